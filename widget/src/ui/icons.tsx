const SHAPES = {
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M20.5 3.5L10.5 13.5M20.5 3.5l-6 17-4-7-7-4z',
  chevron: 'M6 9.5l6 6 6-6',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  down: 'M12 5v14M6 13l6 6 6-6',
};

export function Icon({ name }: { name: keyof typeof SHAPES }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
