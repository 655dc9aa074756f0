const HOURS = 3;
/** Hour, in the browser's time zone, at which a snooze until another day ends. */
const MORNING = 9;
const DAYS_OF_WEEK = 7;

/** Returns choices for a snooze's end: in 3 hours, and at 9:00 tomorrow and next Monday, local time. */
export function endsAfter(now: Date) {
  const morning = (days: number) => {
    const end = new Date(now);
    end.setDate(end.getDate() + days);
    end.setHours(MORNING, 0, 0, 0);
    return end;
  };
  // On a Monday, counts to the Monday of the next week.
  const toMonday = (DAYS_OF_WEEK + 1 - now.getDay()) % DAYS_OF_WEEK || DAYS_OF_WEEK;
  return {
    hours: new Date(now.getTime() + HOURS * 3_600_000),
    tomorrow: morning(1),
    monday: morning(toMonday),
  };
}
