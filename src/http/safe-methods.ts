const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** Reports whether a request's method changes nothing. */
export function isSafe({ method }: { method: string }): boolean {
  return SAFE_METHODS.includes(method);
}
