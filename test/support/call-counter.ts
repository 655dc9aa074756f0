import { Session } from 'node:inspector/promises';

/** Calls of one function. */
interface FunctionCalls {
  /** Address or path of the file, as V8 knows it. */
  url: string;
  functionName: string;
  /** Place in the file at which the function begins. */
  startOffset: number;
  count: number;
}

/** Counts the calls of all functions of this process, until it is stopped. */
export class CallCounter {
  private constructor(private readonly session: Session) {}

  static async start(): Promise<CallCounter> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return new CallCounter(session);
  }

  /** Returns the calls since the last call of this method. */
  async take(): Promise<FunctionCalls[]> {
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    return result.flatMap(({ url, functions }) =>
      functions.map(({ functionName, ranges: [whole] }) => {
        const { startOffset, count } = whole!;
        return { url, functionName, startOffset, count };
      }),
    );
  }

  async stop(): Promise<void> {
    await this.session.post('Profiler.stopPreciseCoverage');
    this.session.disconnect();
  }
}
