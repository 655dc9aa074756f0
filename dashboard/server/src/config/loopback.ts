const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Reports whether a host name always means this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
