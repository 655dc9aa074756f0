import { createTheme, type CSSVariablesResolver } from '@mantine/core';

/** Mantine's theme. Shades and greys are chosen for a contrast of at least 4.5 : 1. */
export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '650' },
  components: {
    // Optional fields say so in their description.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    // A dialog's header is not the page's.
    Modal: {
      defaultProps: {
        centered: true,
        attributes: { header: { role: 'none' } },
        overlayProps: { backgroundOpacity: 0.5 },
      },
    },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm' } },
  },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6b7279',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-green-light-color': '#1b5e2b',
    '--mantine-color-yellow-light-color': '#7a4100',
    '--mantine-color-red-light-color': '#9c1c1c',
    '--mantine-color-blue-light-color': '#124d94',
    '--mantine-color-red-text': 'var(--mantine-color-red-9)',
  },
  dark: {
    '--mantine-color-dimmed': '#a6a7ab',
    '--mantine-color-placeholder': '#9a9ca1',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
});
