/** The nonce of this answer's content security policy: what adds a `<style>` must name it. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

// Where react-remove-scroll, which Mantine's dialogs use, looks for it.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce;
