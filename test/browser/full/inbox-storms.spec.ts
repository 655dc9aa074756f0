import { AgentEntity } from '../../../src/workspaces/agent.entity';
import { Random } from '../../chaos/random';
import { print } from '../../support/report';
import { letTimePass, waitFor } from '../../support/wait';
import { ChatPage } from '../chat-page';
import { InboxDesk } from '../inbox-desk';
import { InboxPage } from '../inbox-page';
import { Device, LiveChat, START_TIMEOUT_MS } from '../live-chat';
import { expectSameMessages } from '../same-messages';
import { DeskConversation } from '../support-desk';

/**
 * Tests of storms over one conversation, in which a visitor and two agents write while faults strike in
 * random order. SEED= sets the first seed, SEEDS= the number of storms.
 */

const isFull = process.env.BROWSER === 'full';
const FIRST_SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000));
const COUNT = Number(process.env.SEEDS ?? (isFull ? 10 : 1));
const STEPS = isFull ? 40 : 20;
/** Number of messages that a visitor writes at most: below the service's limit of 30 a minute. */
const MAX_WRITTEN = 25;
/** Time in which all pages agree: a reader notices silence after 40 seconds, and may wait half a minute. */
const AGREE_MS = 120_000;

jest.setTimeout(600_000);

/** Faults that strike the pages of a visitor and two agents, in random order. */
class InboxStorm {
  readonly written: string[] = [];
  readonly replied: string[] = [];
  readonly log: string[] = [];

  constructor(
    private readonly chat: LiveChat,
    private readonly desk: InboxDesk,
    private readonly device: Device,
    private readonly visitor: ChatPage,
    private readonly agents: InboxPage[],
    private readonly random: Random,
    private readonly name: string,
  ) {}

  async rage(): Promise<void> {
    const faults = Object.entries(this.faults);
    for (let step = 0; step < STEPS; step++) {
      const turn = this.random.next();
      if (turn < 0.3) await this.write();
      else if (turn < 0.6) await this.reply();
      else if (turn < 0.7) await this.random.pick(this.agents).toggle();
      else {
        const [name, strike] = this.random.pick(faults);
        this.log.push(name);
        await strike();
      }
      await letTimePass(this.random.between(0, 400));
    }
  }

  private readonly faults: Record<string, () => void | Promise<void>> = {
    'streams killed': () => this.networks.forEach((network) => network.killStreams()),
    'streams silent': () => this.networks.forEach((network) => network.silenceStreams()),
    'answers lost': () => this.networks.forEach((network) => network.loseAnswers(this.random.between(1, 3))),
    'network cut': async () => {
      const network = this.random.pick(this.networks);
      await network.cut();
      await this.writeDuringFault();
      await network.restore();
    },
    'network stalled': async () => {
      const network = this.random.pick(this.networks);
      network.stall();
      await this.writeDuringFault();
      network.endStall();
    },
    'Redis wiped': async () => {
      await this.chat.redis.kill();
      await this.writeDuringFault();
      await this.chat.redis.restart();
    },
    'PostgreSQL away': async () => {
      await this.desk.database.cut();
      await this.endDatabaseSessions();
      await this.writeDuringFault();
      await this.desk.database.restore();
    },
    'API process killed': async () => {
      await this.chat.killApi();
      await this.writeDuringFault();
      await this.chat.startApi();
    },
    'dashboard process killed': async () => {
      await this.desk.kill();
      await this.writeDuringFault();
      await this.desk.start();
    },
    'visitor offline': () => this.goOffline(this.device.context),
    'agent offline': () => this.goOffline(this.random.pick(this.agents).page.context()),
    'page reloaded': async () => {
      const agent = this.random.pick(this.agents);
      await this.reply(agent);
      await agent.reload();
    },
  };

  private get networks() {
    return [this.chat.network, this.desk.network];
  }

  private async goOffline(context: Device['context']): Promise<void> {
    await context.setOffline(true);
    await this.writeDuringFault();
    await context.setOffline(false);
  }

  /** Ends all sessions of the service's processes. */
  private async endDatabaseSessions(): Promise<void> {
    await this.chat.office.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'messaging-%'`,
    );
  }

  /** Goes on writing while a fault lasts. */
  private async writeDuringFault(): Promise<void> {
    for (let count = this.random.between(0, 2); count > 0; count--) {
      if (this.random.chance(0.5)) await this.write();
      else await this.reply();
    }
    await letTimePass(this.random.between(200, 3_000));
  }

  private async write(): Promise<void> {
    if (this.written.length >= MAX_WRITTEN) return;
    this.written.push(`${this.name}, question ${this.written.length + 1}.`);
    await this.visitor.write(this.written.at(-1)!);
  }

  private async reply(agent = this.random.pick(this.agents)): Promise<void> {
    this.replied.push(`${this.name}, answer ${this.replied.length + 1}.`);
    await agent.reply(this.replied.at(-1)!);
  }
}

describe(`Storms over the inbox (SEED=${FIRST_SEED})`, () => {
  let chat: LiveChat;
  let desk: InboxDesk;
  let people: AgentEntity[];

  beforeAll(async () => {
    chat = await LiveChat.start();
    desk = await InboxDesk.beside(chat);
    const { make } = chat.office;
    people = [await make.agent(chat.workspace), await make.agent(chat.workspace, { role: 'AGENT' })];
  }, START_TIMEOUT_MS);

  it.each(Array.from({ length: COUNT }, (_, index) => FIRST_SEED + index))('seed %d', async (seed) => {
    const name = `Seed ${seed}`;
    const device = await chat.device();
    const visitor = await device.chatAt('/shop');
    await visitor.send(`${name} begins.`);
    const conversation = await chat.desk.conversationWith(`${name} begins.`);
    const agents: InboxPage[] = [];
    for (const person of people) agents.push(await desk.enter(chat.workspace, person, conversation));
    const storm = new InboxStorm(chat, desk, device, visitor, agents, new Random(seed), name);
    const began = Date.now();
    try {
      await storm.rage();
      for (const agent of agents) await agent.sendAllAgain();
      await expectSameMessages([visitor], conversation, [`${name} begins.`, ...storm.written]);
      for (const agent of agents) await expectSameInInbox(agent, conversation);
      const replies = (await conversation.messages()).filter(({ senderType }) => senderType === 'AGENT');
      expect(replies.map(({ body }) => body).sort()).toEqual([...storm.replied].sort());
      expect(agents.flatMap(({ errors }) => errors)).toEqual([]);
    } finally {
      const lasted = Math.round((Date.now() - began) / 1000);
      print(
        `${name}: ${storm.written.length} written, ${storm.replied.length} answered, ${storm.log.join(', ')}; ${lasted} s`,
      );
      for (const network of [chat.network, desk.network]) network.heal();
      await Promise.all([device.close(), ...agents.map((agent) => agent.close())]);
    }
  });
});

/**
 * Expects that an agent sees each message of the conversation once, in the API's order, with its delivery
 * mark.
 */
async function expectSameInInbox(agent: InboxPage, conversation: DeskConversation): Promise<void> {
  const stored = async () =>
    (await conversation.messages()).map(({ body, delivery: { status } }) => ({
      body,
      status,
      isUnsent: false,
    }));
  const isSame = async () => JSON.stringify(await agent.readAll()) === JSON.stringify(await stored());
  // A mark may advance right after they agreed.
  const agreed = await waitFor('the inbox to agree with the API', isSame, AGREE_MS).catch(() => false);
  if (!agreed) expect(await agent.readAll()).toEqual(await stored());
}
