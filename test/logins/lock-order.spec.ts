import { Actor, SYSTEM } from '../../src/access/principal';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { Database } from '../../src/database/database';
import { AgentErasuresService } from '../../src/logins/agent-erasures.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { LinksService } from '../../src/logins/links.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { PeopleService } from '../../src/logins/people.service';
import { SecondFactorDemandsService } from '../../src/logins/second-factor/second-factor-demands.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { waitForLockWait } from '../support/lock-waits';
import { Logins, Member, OTHER_PASSWORD, tokenOf } from '../support/logins';
import { MessagingHost } from '../support/messaging-host';

describe('locks are taken in one order', () => {
  let host: MessagingHost;
  let logins: Logins;
  let workspace: { id: string };
  let owner: Member;
  let colleague: AgentEntity;
  let left: AgentEntity;
  let invited: AgentEntity;

  beforeAll(async () => {
    host = await MessagingHost.create();
    logins = new Logins(host);
    workspace = await host.make.workspace();
    owner = await logins.member(workspace, { role: 'OWNER' });
    await logins.secure(owner);
    ({ agent: colleague } = await logins.member(workspace));
    left = await host.make.agent(workspace, { active: false });
    invited = await host.make.agent(workspace);
  });

  /** Locks the first row, then the second one once `change` waits for the first. */
  async function lockWhile(
    first: [string, string],
    second: [string, string],
    change: () => Promise<unknown>,
  ) {
    const lock = ([table, id]: [string, string]) =>
      `SELECT FROM ${table} WHERE ${table === 'agents' ? `tenant_id = '${workspace.id}' AND` : ''} id = '${id}' FOR NO KEY UPDATE`;
    let changed: Promise<unknown> = Promise.resolve();
    await host.get(Database).transaction(async (tx) => {
      await tx.query(lock(first));
      changed = change();
      changed.catch(() => undefined);
      await waitForLockWait(host, 'the change');
      await tx.query(lock(second));
    });
    await changed;
  }

  const invite = (agent: AgentEntity) =>
    host.get(InvitationsService).invite(workspace.id, agent.id, {}, SYSTEM);

  it.each<[string, (id: string, actor: Actor) => Promise<unknown>]>([
    ['demand a second factor', (id, actor) => host.get(SecondFactorDemandsService).demand(id, {}, actor)],
    ['end that demand', (id, actor) => host.get(SecondFactorDemandsService).endDemand(id, actor)],
    [
      'create an endpoint',
      (id, actor) =>
        host
          .get(WebhookEndpointsService)
          .create(id, { url: 'https://93.184.215.14/hook', events: ['*'] }, actor),
    ],
    [
      'create an API key',
      (id, actor) => host.get(ApiKeysService).create(id, { name: 'Key', scopes: ['messages:read'] }, actor),
    ],
    [
      'create an agent',
      (id, actor) =>
        host.get(AgentsService).create(id, { name: 'Ada', email: 'ada@example.com', role: 'AGENT' }, actor),
    ],
    [
      'change an agent',
      (id, actor) => host.get(AgentsService).update(id, colleague.id, { name: 'Ada' }, actor),
    ],
    ['erase an agent', (id, actor) => host.get(AgentErasuresService).erase(id, left.id, actor)],
    ['invite an agent', (id, actor) => host.get(InvitationsService).invite(id, invited.id, {}, actor)],
    [
      "reset an agent's password",
      (id, actor) => host.get(PasswordsService).sendReset(id, colleague.id, actor),
    ],
    [
      'change the retention',
      (id, actor) => host.get(WorkspacesService).update(id, { messageRetentionDays: 30 }, actor),
    ],
    ['delete the workspace', (id, actor) => host.get(WorkspacesService).delete(id, { graceDays: 7 }, actor)],
    ['cancel its deletion', (id, actor) => host.get(WorkspacesService).cancelDeletion(id, actor)],
    ['rename the person', () => host.get(PeopleService).update(owner.holder, { name: 'Ada Byron' })],
  ])('the workspace before the agent: %s', async (_, change) => {
    const { agent } = owner;
    await lockWhile(['workspaces', workspace.id], ['agents', agent.id], () =>
      change(workspace.id, { type: 'agent', id: agent.id }),
    );
  });

  it('the agent before the person: accept a reset', async () => {
    const { agent, personId } = await logins.member(workspace);
    const { link } = await host.get(PasswordsService).sendReset(workspace.id, agent.id, SYSTEM);
    const passwords = host.get(PasswordsService);
    const found = await passwords.findReset(tokenOf(link));
    await lockWhile(['agents', agent.id], ['people', personId], () =>
      passwords.acceptReset(found!, OTHER_PASSWORD, logins.origin()),
    );
  });

  it('the agent before the person: join a workspace', async () => {
    const member = await logins.member(await host.make.workspace());
    const agent = await host.make.agent(workspace, { email: member.email });
    const { link } = await invite(agent);
    const given = { sessionToken: member.token, password: OTHER_PASSWORD };
    await lockWhile(['agents', agent.id], ['people', member.personId], () =>
      host.get(LinksService).accept(tokenOf(link), given, logins.origin()),
    );
  });
});
