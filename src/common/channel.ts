/** The channels a workspace talks with its customers over. */
export const CHANNELS = ['WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM'] as const;
export type Channel = (typeof CHANNELS)[number];
