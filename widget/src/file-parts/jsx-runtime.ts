import type { h as PreactH } from 'preact';

// The build takes this file in the place of `preact/jsx-runtime`, so that the parts contain no second Preact.

let h: typeof PreactH;

/** Sets the app's function `h` of Preact. It must be called before a part draws. */
export function setH(ofApp: typeof PreactH): void {
  h = ofApp;
}

/** Makes an element. Compiled JSX calls it, and `jsxs` for an element with several children. */
export function jsx(type: Parameters<typeof PreactH>[0], props: object, key?: string): unknown {
  return h(type as 'div', key === undefined ? props : { ...props, key });
}
export { jsx as jsxs };
