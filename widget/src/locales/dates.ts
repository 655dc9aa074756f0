/** Formats dates and times in one language. */
export class Dates {
  private readonly times = once(() => new Intl.DateTimeFormat(this.tag, { timeStyle: 'short' }));
  private readonly days = once(
    () => new Intl.DateTimeFormat(this.tag, { weekday: 'long', day: 'numeric', month: 'long' }),
  );
  private readonly daysOfOtherYears = once(() => new Intl.DateTimeFormat(this.tag, { dateStyle: 'long' }));
  private readonly relative = once(() => new Intl.RelativeTimeFormat(this.tag, { numeric: 'auto' }));

  constructor(private readonly tag: string) {}

  time(date: Date): string {
    return this.times().format(date);
  }

  day(date: Date, now: Date): string {
    const daysAgo = Math.round((midnight(now) - midnight(date)) / 86_400_000);
    if (daysAgo === 0 || daysAgo === 1) return capitalized(this.relative().format(-daysAgo, 'day'), this.tag);
    const isThisYear = date.getFullYear() === now.getFullYear();
    return (isThisYear ? this.days : this.daysOfOtherYears)().format(date);
  }
}

/** Returns a function that calls `make` at its first use only, because making a date format is slow. */
function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function capitalized(text: string, tag: string): string {
  return text.charAt(0).toLocaleUpperCase(tag) + text.slice(1);
}
