import { Random } from '../../chaos/random';
import { print } from '../../support/report';
import { letTimePass } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { expectSameMessages } from '../same-messages';
import { DeskConversation } from '../support-desk';

/**
 * Tests of storms: faults in random order while a visitor and an agent write. SEED= sets the first seed,
 * SEEDS= the number of storms.
 */

const FIRST_SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000));
const COUNT = Number(process.env.SEEDS ?? 10);
const STEPS = 40;
/**
 * Number of messages that a visitor writes at most: below the service's limit of 30 a minute, which has a
 * test of its own.
 */
const MAX_WRITTEN = 25;
const MAX_TABS = 3;
const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

jest.setTimeout(600_000);

/** Faults that strike one visitor's tabs, in random order. */
class Storm {
  readonly written: string[] = [];
  readonly tabs: ChatPage[] = [];
  readonly log: string[] = [];
  private replies = 0;

  constructor(
    private readonly chat: LiveChat,
    private readonly device: Device,
    private readonly random: Random,
    private readonly name: string,
    private readonly path: string,
  ) {}

  async begin(): Promise<DeskConversation> {
    this.tabs.push(await this.device.chatAt(this.path));
    const first = this.text();
    await this.tabs[0]!.send(first);
    return this.chat.desk.conversationWith(first);
  }

  /**
   * Runs the storm.
   * @param inOneTab true when the browser stores nothing: then each tab is another visitor's, and its unsent
   *   messages end with it
   */
  async rage(conversation: DeskConversation, inOneTab: boolean): Promise<void> {
    const faults = Object.entries({ ...this.faults, ...(!inOneTab && this.faultsOfTabs) });
    for (let step = 0; step < STEPS; step++) {
      const turn = this.random.next();
      if (turn < 0.4) await this.write();
      else if (turn < 0.7) await this.reply(conversation);
      else {
        const [name, strike] = this.random.pick(faults);
        this.log.push(name);
        await strike();
      }
      await letTimePass(this.random.between(0, 400));
    }
  }

  private readonly faults: Record<string, () => void | Promise<void>> = {
    'streams killed': () => this.chat.network.killStreams(),
    'streams silent': () => this.chat.network.silenceStreams(),
    'events dropped': async () => {
      this.chat.network.dropMessages(true);
      await this.writeMeanwhile();
      this.chat.network.dropMessages(false);
    },
    'answers lost': () => this.chat.network.loseAnswers(this.random.between(1, 3)),
    'network cut': async () => {
      await this.chat.network.cut();
      await this.writeMeanwhile();
      await this.chat.network.restore();
    },
    'network stalled': async () => {
      this.chat.network.stall();
      await this.writeMeanwhile();
      this.chat.network.endStall();
    },
    'Redis wiped': async () => {
      await this.chat.redis.kill();
      await this.writeMeanwhile();
      await this.chat.redis.restart();
    },
    'API process killed': async () => {
      await this.chat.killApi();
      await this.writeMeanwhile();
      await this.chat.startApi();
    },
    offline: async () => {
      await this.device.context.setOffline(true);
      await this.writeMeanwhile();
      await this.device.context.setOffline(false);
    },
  };

  private readonly faultsOfTabs: Record<string, () => void | Promise<void>> = {
    'another tab': async () => {
      if (this.tabs.length < MAX_TABS) this.tabs.push(await this.device.chatAt(this.path));
    },
    'tab frozen': async () => {
      if (this.tabs.length === 1) return;
      const [frozen, ...others] = this.tabs as [ChatPage, ...ChatPage[]];
      const thaw = await this.device.freeze(frozen);
      for (let count = this.random.between(0, 2); count > 0; count--)
        await this.write(this.random.pick(others));
      await letTimePass(this.random.between(2_000, 9_000));
      await thaw();
    },
    'tab killed': async () => {
      const tab = this.random.pick(this.tabs);
      await this.write(tab);
      await this.device.crash(tab);
      await this.replace(tab);
    },
    'tab closed': async () => {
      const tab = this.random.pick(this.tabs);
      await this.write(tab);
      await tab.page.close();
      await this.replace(tab);
    },
    'tab reloaded': async () => {
      const tab = this.random.pick(this.tabs);
      await this.write(tab);
      await tab.reload();
    },
  };

  private async replace(lost: ChatPage): Promise<void> {
    this.tabs.splice(this.tabs.indexOf(lost), 1);
    if (this.tabs.length === 0) this.tabs.push(await this.device.chatAt(this.path));
  }

  private async writeMeanwhile(): Promise<void> {
    for (let count = this.random.between(0, 2); count > 0; count--) await this.write();
    await letTimePass(this.random.between(200, 3_000));
  }

  private async write(tab = this.random.pick(this.tabs)): Promise<void> {
    if (this.written.length < MAX_WRITTEN) await tab.write(this.text());
  }

  private async reply(conversation: DeskConversation): Promise<void> {
    this.replies += 1;
    await conversation.reply(`${this.name}, answer ${this.replies}.`);
  }

  private text(): string {
    this.written.push(`${this.name}, question ${this.written.length + 1}.`);
    return this.written.at(-1)!;
  }
}

describe(`Storms (SEED=${FIRST_SEED})`, () => {
  let chat: LiveChat;

  beforeAll(async () => {
    chat = await LiveChat.start();
  }, START_TIMEOUT_MS);

  it.each(Array.from({ length: COUNT }, (_, index) => FIRST_SEED + index))('seed %d', async (seed) => {
    const random = new Random(seed);
    const device = await chat.device();
    const isStorageRefused = random.chance(0.2);
    const path = random.pick(['/shop', '/strict', '/hostile']);
    const offsetMs = random.pick([0, 0, TWO_HOURS_MS, -TWO_HOURS_MS]);
    if (isStorageRefused) await device.refuseStorage(random.pick(['throws', 'fails'] as const));
    if (offsetMs) await device.shiftClock(offsetMs);
    const storm = new Storm(chat, device, random, `Seed ${seed}`, path);
    const began = Date.now();
    try {
      const conversation = await storm.begin();
      await storm.rage(conversation, isStorageRefused);
      await expectSameMessages(storm.tabs, conversation, storm.written);
    } finally {
      const conditions = `${path}, clock ${offsetMs / 60_000} min, ${isStorageRefused ? 'no storage, ' : ''}`;
      const lasted = Math.round((Date.now() - began) / 1000);
      print(
        `Seed ${seed}: ${conditions}${storm.written.length} written, ${storm.log.join(', ')}; ${lasted} s`,
      );
      chat.network.heal();
      await device.close();
    }
  });
});
