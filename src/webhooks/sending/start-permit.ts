/** Permission to begin an attempt. It lasts for a short time, and can be renewed. */
export interface StartPermit {
  /** Reports whether the permission has ended. */
  isOver(): boolean;
  /** Looks at the endpoint once more, and returns whether the request may still be sent as it is. */
  renew(): Promise<boolean>;
}

/** Ends an attempt before its first byte, because its permission has ended. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}
