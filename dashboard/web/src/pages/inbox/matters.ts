const MATTERS = ['waiting', 'lost'] as const;

/** View without a choice of the status: customers who wait for a reply, or replies that are lost. */
export type Matter = (typeof MATTERS)[number];

export function isMatter(view: string | undefined): view is Matter {
  return MATTERS.some((one) => one === view);
}
