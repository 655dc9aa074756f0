// The first match counts: later browsers name the earlier ones, too.
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

/** Returns a name such as `Firefox · Linux`; null when the user agent names neither. */
export function nameOfBrowser(userAgent: string | null): string | null {
  const parts = [BROWSERS, SYSTEMS]
    .map((known) => known.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1])
    .filter((name) => name !== undefined);
  return parts.length > 0 ? parts.join(' · ') : null;
}
