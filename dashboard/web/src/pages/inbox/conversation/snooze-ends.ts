const HOURS = 3;
/** Hour at which a day begins. */
const MORNING = 9;
const DAYS_OF_WEEK = 7;

/** Returns the ends of a snooze to choose from, by the browser's clock. */
export function endsAfter(now: Date) {
  const morning = (days: number) => {
    const end = new Date(now);
    end.setDate(end.getDate() + days);
    end.setHours(MORNING, 0, 0, 0);
    return end;
  };
  // From a Monday, it is the Monday of the next week.
  const toMonday = (DAYS_OF_WEEK + 1 - now.getDay()) % DAYS_OF_WEEK || DAYS_OF_WEEK;
  return {
    hours: new Date(now.getTime() + HOURS * 3_600_000),
    tomorrow: morning(1),
    monday: morning(toMonday),
  };
}
