import {
  type BadgeProps,
  type ButtonProps,
  createTheme,
  type CSSVariablesResolver,
  type InputProps,
} from '@mantine/core';

/** Font of the pages: Inter where it is installed, otherwise the system's font. No font is downloaded. */
const FONT =
  "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

const PRIMARY = 'petrol';

/** Mantine's theme. Its shades and greys have a contrast of at least 4.5 : 1. */
export const theme = createTheme({
  primaryColor: PRIMARY,
  primaryShade: { light: 7, dark: 6 },
  black: '#141d1d',
  fontFamily: FONT,
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.5' },
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    fontWeight: '600',
    sizes: {
      h2: { fontSize: '1.375rem', lineHeight: '1.3' },
      h3: { fontSize: '1.0625rem', lineHeight: '1.35' },
      h4: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  colors: {
    petrol: [
      '#ecf8f8',
      '#d4efef',
      '#abdfe0',
      '#79cacd',
      '#43aeb3',
      '#20939a',
      '#147a81',
      '#0e656c',
      '#0c5358',
      '#094145',
    ],
    gray: [
      '#f6f8f8',
      '#eef1f1',
      '#e4e8e8',
      '#d6dcdc',
      '#c3cbcb',
      '#a2acac',
      '#788484',
      '#536060',
      '#374242',
      '#1a2323',
    ],
    dark: [
      '#e4e9e9',
      '#c2caca',
      '#98a3a3',
      '#6c7878',
      '#2b3434',
      '#222929',
      '#181e1e',
      '#101515',
      '#0b0f0f',
      '#070909',
    ],
    green: [
      '#ebf9f1',
      '#d5f2e1',
      '#ace5c5',
      '#7dd3a3',
      '#4bbe82',
      '#26a667',
      '#1b8f58',
      '#147347',
      '#115b3a',
      '#0c452c',
    ],
    red: [
      '#fef1f0',
      '#fcdfdc',
      '#f8bcb7',
      '#f29289',
      '#ea685e',
      '#df4a40',
      '#cd342a',
      '#b1261f',
      '#911e19',
      '#701612',
    ],
    yellow: [
      '#fff8e8',
      '#feeec7',
      '#fcdd8f',
      '#f8c654',
      '#f0ae2c',
      '#db9312',
      '#b7740a',
      '#915809',
      '#73450c',
      '#59350c',
    ],
  },
  components: {
    // Required fields get no asterisk, because optional fields are described as optional.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Input: {
      vars: (_: unknown, { size = 'sm' }: InputProps) => ({
        wrapper: size === 'sm' ? { '--input-height': '2.125rem' } : {},
      }),
    },
    Button: {
      vars: (_: unknown, { size = 'sm' }: ButtonProps) => ({
        root: size === 'sm' ? { '--button-height': '2.125rem', '--button-padding-x': '0.875rem' } : {},
      }),
    },
    Card: { defaultProps: { radius: 'md' } },
    // Without this role, a dialog's header would count as the page's header.
    Modal: {
      defaultProps: {
        centered: true,
        radius: 'lg',
        attributes: { header: { role: 'none' } },
        overlayProps: { backgroundOpacity: 0.5 },
      },
    },
    Menu: { defaultProps: { radius: 'md', shadow: 'md' } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
    // A `light` badge shows a state, with a dot. A `default` badge shows a name, such as a scope's.
    Badge: {
      defaultProps: { variant: 'light', radius: 'sm' },
      vars: (_: unknown, { color = PRIMARY }: BadgeProps) => ({
        root: { '--badge-dot-color': `var(--mantine-color-${color}-5)` },
      }),
    },
  },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6767',
    '--mantine-color-placeholder': '#6a7676',
    '--mantine-color-error': 'var(--mantine-color-red-7)',
    '--mantine-color-default-border': '#e1e6e6',
    '--field-border': '#869191',
    '--mantine-color-green-light-color': 'var(--mantine-color-green-8)',
    '--mantine-color-yellow-light-color': 'var(--mantine-color-yellow-8)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-8)',
    '--mantine-color-gray-light-color': 'var(--mantine-color-gray-8)',
    '--mantine-color-blue-light-color': '#124d94',
    '--mantine-color-red-text': 'var(--mantine-color-red-7)',
    '--surface-raised': 'var(--mantine-color-white)',
    '--surface-subtle': 'var(--mantine-color-gray-0)',
    '--surface-hover': 'var(--mantine-color-gray-1)',
    '--surface-active': 'var(--mantine-color-gray-2)',
    '--surface-own': 'var(--mantine-color-petrol-1)',
    '--surface-note': 'var(--mantine-color-yellow-0)',
    '--border-note': 'var(--mantine-color-yellow-6)',
  },
  dark: {
    '--mantine-color-dimmed': '#9aa6a6',
    '--mantine-color-placeholder': '#8b9797',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-yellow-light-color': 'var(--mantine-color-yellow-4)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-4)',
    '--mantine-color-default-border': 'var(--mantine-color-dark-4)',
    '--field-border': 'var(--mantine-color-dark-3)',
    '--mantine-color-disabled': 'var(--mantine-color-dark-5)',
    '--surface-raised': 'var(--mantine-color-dark-6)',
    '--surface-subtle': 'var(--mantine-color-dark-8)',
    '--surface-hover': 'var(--mantine-color-dark-6)',
    '--surface-active': 'var(--mantine-color-dark-5)',
    '--surface-own': 'var(--mantine-color-petrol-9)',
    '--surface-note': '#29220f',
    '--border-note': 'var(--mantine-color-yellow-7)',
  },
});
