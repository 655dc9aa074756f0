const SHAPES = {
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M20.5 3.5L10.5 13.5M20.5 3.5l-6 17-4-7-7-4z',
  chevron: 'M6 9.5l6 6 6-6',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  attach:
    'M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.4 8.4a1.6 1.6 0 0 1-2.3-2.3l7.6-7.6',
  down: 'M12 5v14M6 13l6 6 6-6',
};

export function Icon({ name }: { name: keyof typeof SHAPES }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
