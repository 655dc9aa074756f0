/** How moments are written in one language. */
export class Dates {
  private readonly times: Intl.DateTimeFormat;
  private readonly days: Intl.DateTimeFormat;
  private readonly daysOfOtherYears: Intl.DateTimeFormat;
  private readonly relative: Intl.RelativeTimeFormat;

  constructor(private readonly tag: string) {
    this.times = new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
    this.days = new Intl.DateTimeFormat(tag, { weekday: 'long', day: 'numeric', month: 'long' });
    this.daysOfOtherYears = new Intl.DateTimeFormat(tag, { dateStyle: 'long' });
    this.relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  }

  time(date: Date): string {
    return this.times.format(date);
  }

  day(date: Date, now: Date): string {
    const daysAgo = Math.round((midnight(now) - midnight(date)) / 86_400_000);
    if (daysAgo === 0 || daysAgo === 1) return capitalized(this.relative.format(-daysAgo, 'day'), this.tag);
    const isThisYear = date.getFullYear() === now.getFullYear();
    return (isThisYear ? this.days : this.daysOfOtherYears).format(date);
  }
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function capitalized(text: string, tag: string): string {
  return text.charAt(0).toLocaleUpperCase(tag) + text.slice(1);
}
