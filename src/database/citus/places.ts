import { NodeFailed } from './node-searches';

/** Time in milliseconds for which work in several places waits for all of them. */
const WAIT_MS = 500;
/** Time in milliseconds within which a place must answer a read. */
const READ_MS = 1_000;

/** Place of workspaces that a search looks through: a node of Citus, or the one server. */
export interface Place {
  name: string;
}

export const ONE_SERVER: Place = { name: 'the server' };

/**
 * Repeats work in several places, none of which holds up the others: a run returns after half a second at the
 * latest, with what has ended since the last one, and the work does not begin again where it still runs.
 */
export class PlacedWork<Result> {
  private running: Promise<Result[]> | null = null;
  /** Names of the places where the work runs. */
  private readonly busy = new Set<string>();
  /** Latest results of the places whose work has ended since the last run, by their names. */
  private ended = new Map<string, PromiseSettledResult<Result>>();

  /**
   * Begins the work, and returns what has ended. Runs at the same time are one. A place that has failed is
   * missed out, unless all have.
   */
  run(places: Place[], work: (place: Place) => Promise<Result>): Promise<Result[]> {
    this.running ??= this.runOnce(places, work).finally(() => (this.running = null));
    return this.running;
  }

  private async runOnce(places: Place[], work: (place: Place) => Promise<Result>): Promise<Result[]> {
    if (places.length <= 1) return Promise.all(places.map(work));
    const begun = places.filter(({ name }) => !this.busy.has(name)).map((place) => this.begin(place, work));
    await endsWithin(WAIT_MS, Promise.all(begun));
    const ended = this.ended;
    this.ended = new Map();
    const results = [...ended.values()];
    const errors = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    const fault = errors.find((error) => !(error instanceof NodeFailed));
    const haveAllFailed = places.every(({ name }) => ended.get(name)?.status === 'rejected');
    if (fault !== undefined || haveAllFailed) throw fault ?? errors[0];
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  private async begin(place: Place, work: (place: Place) => Promise<Result>): Promise<void> {
    this.busy.add(place.name);
    const [result] = await Promise.allSettled([work(place)]);
    this.busy.delete(place.name);
    this.ended.set(place.name, result);
  }
}

/**
 * Reads in several places, none of which holds up the others: a place that has not answered within a second
 * is left out, and is not asked again until it has answered.
 */
export class PlacedReads {
  /** Names of the places that have not answered in time. */
  private readonly late = new Set<string>();

  /** Returns the rows of the places that answer in time. */
  async run<Row>(places: Place[], read: (place: Place) => Promise<Row[]>): Promise<Row[]> {
    const asked = places.filter(({ name }) => !this.late.has(name));
    return (await Promise.all(asked.map((place) => this.readIn(place, read)))).flat();
  }

  private async readIn<Row>(place: Place, read: (place: Place) => Promise<Row[]>): Promise<Row[]> {
    const reading = read(place).catch((error: unknown) => {
      if (error instanceof NodeFailed) return [];
      throw error;
    });
    if (await endsWithin(READ_MS, reading)) return reading;
    this.late.add(place.name);
    const forget = () => this.late.delete(place.name);
    void reading.then(forget, forget);
    return [];
  }
}

/**
 * Reports whether work ends within so many milliseconds.
 * @throws what the work rejects with by then
 */
async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
