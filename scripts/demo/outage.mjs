import { setTimeout as sleep } from 'node:timers/promises';
import { bold, cyan, dim, green, note, red, title } from './print.mjs';

/** @import { AlertResponse, AutomaticRecoverySummary, Page } from 'conversation-messaging-service' */
/** @import { Customer } from './customers.mjs' */
/** @import { Login } from './login.mjs' */
/** @import { Receiver } from './receiver.mjs' */

const POLL_MS = 1000;

/** An outage of the receiver: it begins and ends with the Enter key, and what the owner sees is printed. */
export class Outage {
  /** Attempts of each webhook that the receiver has refused and not got yet, by their ids. */
  #missed = /** @type {Map<string, number>} */ (new Map());
  /** @type {Promise<void>} */
  #watched = Promise.resolve();

  /**
   * @param {object} options
   * @param {Receiver} options.receiver
   * @param {Login} options.owner
   * @param {string} options.endpointId
   * @param {string} options.page address of the endpoint's page in the dashboard
   * @param {Customer} options.customer
   */
  constructor({ receiver, owner, endpointId, page, customer }) {
    this.receiver = receiver;
    this.owner = owner;
    this.endpointId = endpointId;
    this.page = page;
    this.customer = customer;
    receiver.on('refused', ({ id, event }) => {
      const attempt = (this.#missed.get(id) ?? 0) + 1;
      this.#missed.set(id, attempt);
      console.log(`${red('⇠ 503')} ${event}, attempt ${attempt}`);
    });
    receiver.on('delivery', ({ headers }) => this.#missed.delete(String(headers['webhook-id'])));
  }

  /**
   * Lets the Enter key begin and end the outage, until the input ends.
   *
   * @param {NodeJS.ReadableStream} input
   */
  async obey(input) {
    for await (const line of input) {
      void line;
      await (this.receiver.isAway ? this.#end() : this.#begin());
    }
  }

  async #begin() {
    this.receiver.isAway = true;
    title('The receiver is away: it answers 503. A customer writes meanwhile');
    note(
      'After six attempts, a minute in all, the service gives up and the owner is told. Enter brings it back',
    );
    await this.customer.write('Is anybody there?');
    await this.#watched;
    this.#watched = this.#watch();
  }

  async #end() {
    this.receiver.isAway = false;
    title('The receiver is back. A customer writes, and the success begins a recovery of what was missed');
    await this.customer.write('Hello again!');
  }

  /** Prints what the owner sees until the outage is over and nothing is missed. */
  async #watch() {
    /** @type {Map<string, AlertResponse>} */
    let open = new Map();
    let shown = '';
    for (;;) {
      await sleep(POLL_MS);
      const [alerts, recovery] = await Promise.all([this.#openAlerts(), this.#recovery()]);
      for (const { id, kind } of alerts)
        if (!open.has(id)) console.log(`${red('●')} alert ${bold(kind)} ${dim(this.page)}`);
      const ids = new Set(alerts.map(({ id }) => id));
      for (const { id, kind } of open.values())
        if (!ids.has(id)) console.log(`${green('✓')} alert ${bold(kind)} resolved`);
      open = new Map(alerts.map((alert) => [alert.id, alert]));
      const state = describe(recovery);
      if (state !== shown) console.log(`${cyan('○')} automatic recovery: ${(shown = state)}`);
      const isFailing = alerts.some(({ kind }) => kind === 'ENDPOINT_FAILING');
      if (!this.receiver.isAway && !recovery && !isFailing && this.#missed.size === 0) break;
    }
    title('The receiver has everything that it missed. Press Enter for another outage');
  }

  /** @returns {Promise<AlertResponse[]>} */
  async #openAlerts() {
    /** @type {Page<AlertResponse>} */
    const { data } = await this.owner.call('GET', '/alerts?open=true');
    return data.filter(({ subjectId }) => subjectId === this.endpointId);
  }

  /** @returns {Promise<AutomaticRecoverySummary | null>} */
  async #recovery() {
    const path = `/webhook-endpoints/${this.endpointId}/automatic-recovery`;
    /** @type {{ data: AutomaticRecoverySummary | null }} */
    const { data } = await this.owner.call('GET', path);
    return data;
  }
}

/** @param {AutomaticRecoverySummary | null} recovery */
function describe(recovery) {
  if (!recovery) return 'nothing is missed';
  const { state, nextProbeAt, probes, rounds } = recovery;
  if (state === 'recovering') return `round ${rounds} sends what was missed`;
  if (state !== 'probing' || !nextProbeAt) return state;
  const time = new Date(nextProbeAt).toLocaleTimeString();
  return `probing, next try at ${time} (${probes} so far), or with the next success`;
}
