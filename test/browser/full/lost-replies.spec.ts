import { Readable } from 'node:stream';
import { UploadContents } from '../../../src/attachments/uploads/upload-contents';
import { UploadsService } from '../../../src/attachments/uploads/uploads.service';
import { newId } from '../../../src/common/ids';
import { SendReply } from '../../../src/messages/message.dto';
import { MessagesService } from '../../../src/messages/messages.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

describe('replies that were not delivered', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  const row = (name: string) => visit.page.locator('[data-conversation]').filter({ hasText: name });
  const view = () => visit.page.getByRole('link', { name: /^Not delivered/ });
  const agent = () => ({ type: 'agent' as const, id: visit.agent.id });
  /** Answers over a channel that is not connected, so that the answer fails. */
  const lose = ({ id }: { id: string }, body: string) =>
    world.service.app.get(MessagesService).send(workspace.id, id, { body }, agent());

  const upload = async (conversationId: string, name: string) => {
    const { app } = world.service;
    const made = await app
      .get(UploadsService)
      .create(workspace.id, { conversationId, name, size: name.length }, agent());
    const owner = { tenantId: workspace.id, uploader: visit.agent.id };
    const content = Readable.from([Buffer.from(name)]);
    await app.get(UploadContents).storeUnsized(owner, made.id, content, new AbortController().signal);
    return { uploadId: made.id };
  };

  it('of several files say which of them failed, and why', async () => {
    const conversation = await world.service.make.begun(workspace, 'Dora', 'Both, please.');
    const attachments = [
      await upload(conversation.id, 'first.txt'),
      await upload(conversation.id, 'second.txt'),
    ];
    const reply = { attachments } as SendReply;
    const { message } = await world.service.app
      .get(MessagesService)
      .send(workspace.id, conversation.id, reply, agent());
    const refused = JSON.stringify({ code: 'REFUSED', providerCode: '400', message: 'Bad Request' });
    for (const [position, { id }] of message.attachments.entries())
      await world.service.query(
        `INSERT INTO message_parts (tenant_id, conversation_id, message_id, position, id, content, attachment_id, file_id,
                                    status, error, attempt_count, created_at)
         SELECT tenant_id, conversation_id, message_id, $3, $4, 'FILE', id, file_id, $5, $6, 1, now()
         FROM attachments WHERE tenant_id = $1 AND id = $2`,
        [workspace.id, id, position, newId(), ...(position === 0 ? ['SENT', null] : ['FAILED', refused])],
      );
    await visit.page.goto(`/w/${workspace.slug}/inbox/${conversation.id}`);
    const files = visit.page.locator('article li');
    await files
      .filter({ hasText: 'second.txt' })
      .getByText(/^Not delivered: The channel refused/)
      .waitFor();
    expect(await files.filter({ hasText: 'first.txt' }).getByText('Not delivered').count()).toBe(0);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
  });

  it('are marked and counted as it happens, in a view that they leave when somebody deals with them', async () => {
    const { make } = world.service;
    const [ada, ben, cem] = [
      await make.begun(workspace, 'Ada', 'Where is it?'),
      await make.begun(workspace, 'Ben', 'And mine?'),
      await make.begun(workspace, 'Cem', 'Hello?'),
    ];
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await row('Ada').waitFor();
    expect(await view().count()).toBe(0);

    await lose(ada, 'It is late.');
    await row('Ada').getByText('Not delivered', { exact: true }).waitFor();
    await lose(ben, 'Yours, too.');
    await row('Ben').getByText('Not delivered', { exact: true }).waitFor();
    await world.service.query(
      "UPDATE messages SET delivery_status = 'UNKNOWN' WHERE tenant_id = $1 AND conversation_id = $2 AND body = 'Yours, too.'",
      [workspace.id, ben.id],
    );
    await make.received(workspace, ben, 'Well?');
    await row('Ben').getByText('Perhaps not delivered').waitFor();
    await lose(cem, 'Hello.');
    await view().filter({ hasText: '3' }).waitFor();
    // What the customer writes then hides it no more than a change of the conversation does.
    await make.received(workspace, ada, 'Are you there?');
    await row('Ada')
      .filter({ hasText: 'Are you there?' })
      .getByText('Not delivered', { exact: true })
      .waitFor();

    await view().click();
    await visit.page.locator('ul[data-loaded="3"]').waitFor();
    expect(await visit.page.getByLabel('Status').count()).toBe(0);
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);

    await row('Ada').click();
    await visit.button('Dismiss').waitFor();
    await visit.button('Dismiss').click();
    await row('Ada').waitFor({ state: 'detached' });
    await visit.button('Dismiss').waitFor({ state: 'detached' });
    await visit.button('Send again').waitFor();

    await row('Cem').click();
    await visit.page.getByRole('heading', { name: 'Cem' }).waitFor();
    await visit.button('Close').click();
    await row('Cem').waitFor({ state: 'detached' });

    await row('Ben').click();
    await visit.button('Send again').click();
    await visit.page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await visit.text('Sent again below.').waitFor();
    // That fails as well.
    await visit.button('Dismiss').click();
    await row('Ben').waitFor({ state: 'detached' });
    await visit.text('Every reply has been delivered').waitFor();
    await visit.page.getByRole('link', { name: /^All/ }).click();
    await view().waitFor({ state: 'detached' });
  });

  it('stand on the overview, with a way to them', async () => {
    await lose(await world.service.make.begun(workspace, 'Ada', 'Where is it?'), 'It is late.');
    await visit.settings(workspace, 'overview');
    await visit.text('1 conversation has a reply that did not reach the customer, or perhaps not.').waitFor();
    await visit.page.getByRole('link', { name: 'Open the list' }).click();
    await row('Ada').waitFor();
  });
});
