/** Nonce of this answer's content security policy. Code that adds a `<style>` must name it. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// react-remove-scroll, which Mantine's dialogs use, looks for the nonce here.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce;
