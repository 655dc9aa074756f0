import { answering } from '../chaos/behaviours';
import { ChaosHost, Conversation } from '../chaos/chaos-host';
import { Client } from '../chaos/client';
import { Ledger } from '../chaos/ledger';
import { Random } from '../chaos/random';
import { ChaosReceiver, TlsFiles } from '../chaos/receivers';

/** Workspaces with an endpoint each, which behave alike, and what was promised to them. */
export class Group {
  private readonly conversations: Conversation[] = [];

  private constructor(
    readonly name: string,
    readonly ledger: Ledger,
    readonly receiver: ChaosReceiver,
  ) {}

  static async open(
    name: string,
    size: number,
    { host, files, random }: { host: ChaosHost; files: TlsFiles; random: Random },
  ): Promise<Group> {
    const ledger = new Ledger();
    const options = { files, book: ledger, random: random.stream(name), usual: answering };
    const group = new Group(name, ledger, await ChaosReceiver.start(options));
    while (group.conversations.length < size) {
      const [conversation] = await host.makeConversations(1);
      await host.createEndpoint(conversation!.workspaceId, { url: group.receiver.urlOf(name) });
      group.conversations.push(conversation!);
    }
    return group;
  }

  get workspaceIds(): string[] {
    return this.conversations.map(({ workspaceId }) => workspaceId);
  }

  async send(client: Client, random: Random): Promise<void> {
    const sent = await client.send(random.pick(this.conversations), random);
    if (sent) this.ledger.promise(sent);
  }

  /** Returns the name of the group once for each promised message that no endpoint of it accepted. */
  missing(): string[] {
    return this.ledger.missing([this.name]);
  }
}
