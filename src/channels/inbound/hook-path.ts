/** Where the providers of channels call, as Express matches paths: `/channels/telegram/{hookKey}`, in any case. */
export const HOOK_PATH = /^\/channels\/(telegram|whatsapp|messenger|instagram)(?=\/)/i;

/** Providers bundle events: more than any of them sends at once. */
export const HOOK_BODY_LIMIT = 3 * 1024 * 1024;
