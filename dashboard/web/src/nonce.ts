/** Nonce of the page's Content-Security-Policy. Code that adds a `<style>` element must set it. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// Mantine's dialogs use react-remove-scroll, which reads the nonce from this global variable.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce;
