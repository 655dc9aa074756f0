// The first match counts, because some user agents also name browsers that are listed further below.
const BROWSERS: [RegExp, string][] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(Headless)?Chrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns a name such as `Firefox · Linux`; null if the user agent names no known browser or system. */
export function nameOfBrowser(userAgent: string | null): string | null {
  const parts = [BROWSERS, SYSTEMS]
    .map((known) => known.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1])
    .filter((name) => name !== undefined);
  return parts.length > 0 ? parts.join(' · ') : null;
}
