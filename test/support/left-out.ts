/**
 * Describes tests that need a thing which a machine may lack. Without it they are left out, and the summary
 * counts a "todo" that names the thing.
 */
export function describeWith(need: string, isThere: boolean, name: string, tests: () => void): void {
  describe(name, () => {
    // oxlint-disable-next-line house/restricted-syntax -- The README's command passes with Node and npm alone.
    if (!isThere) return it.todo(`need ${need}`);
    tests();
  });
}

/** Describes tests that need a thing which only Linux has. They are left out elsewhere. */
export function describeOnLinux(need: string, name: string, tests: () => void): void {
  describeWith(`Linux, for ${need}`, isLinux(), name, tests);
}

/** Defines a test that needs a thing which only Linux has. It is left out elsewhere. */
export function itOnLinux(
  need: string,
  name: string,
  test: (() => void) | (() => Promise<unknown>),
  timeoutMs?: number,
): void {
  if (isLinux()) return it(name, test, timeoutMs);
  // oxlint-disable-next-line house/restricted-syntax -- The README's command passes on macOS.
  it.todo(`${name} (needs Linux, for ${need})`);
}

function isLinux(): boolean {
  return process.platform === 'linux';
}
