import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathOf as storedPathOf } from '../../src/attachments/store/file-store';
import { makeSettings, Settings } from '../support/dashboard-routes';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';
import { fileFolderOf } from '../support/test-database';
import { unzip } from '../support/unzip';

describe("a contact's export in the dashboard", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let settings: Settings;
  let contact: { id: string };

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
  });

  beforeEach(async () => {
    settings = await makeSettings(service, dashboard, 'https://127.0.0.1:9999/hook');
    contact = await service.make.contact(settings.workspace, { name: 'Zoë' });
  });

  const pathOf = (path: string) => `/api/workspaces/${settings.workspace.id}${path}`;
  const exportPath = () => pathOf(`/contacts/${contact.id}/export`);

  /** Sends a file to the contact, and returns its attachment. */
  const attach = async (name: string, bytes: Buffer): Promise<{ id: string }> => {
    const { browser, workspace } = settings;
    const conversation = await service.make.conversation(workspace, { contactId: contact.id });
    const upload = { conversationId: conversation.id, name, size: bytes.length };
    const { body: made } = await browser.post(pathOf('/uploads'), upload);
    await browser.putBytes(pathOf(`/uploads/${made.id}/content`), bytes);
    const reply = { attachments: [{ uploadId: made.id }] };
    const { body } = await browser.post(pathOf(`/conversations/${conversation.id}/messages`), reply);
    return body.message.attachments[0];
  };

  it('is an archive of what is stored, with the files', async () => {
    const bytes = randomBytes(300_000);
    const { id } = await attach('a/ä.bin', bytes);
    const { status, headers, body } = await settings.browser.getBytes(exportPath());
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename=contact-${contact.id}.zip`,
    });
    const { 'contact.jsonl': lines, ...files } = unzip(body);
    expect(files).toEqual({ [`files/${id} a_ä.bin`]: bytes });
    const types = String(lines)
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(['contact', 'conversation', 'message']);
    const { body: log } = await settings.browser.get(pathOf('/audit-entries?action=contact.exported'));
    expect(log.data).toEqual([expect.objectContaining({ actorId: settings.owner.id, entityId: contact.id })]);
  });

  it('is cut off, and so no whole archive, if the store can not be read', async () => {
    const { id } = await attach('a.bin', randomBytes(1_000));
    const { id: tenantId } = settings.workspace;
    const [file] = await service.query<{ fileId: string }>(
      'SELECT file_id AS "fileId" FROM attachments WHERE tenant_id = $1 AND id = $2',
      [tenantId, id],
    );
    const path = join(fileFolderOf(service.stores), storedPathOf({ tenantId, fileId: file!.fileId }));
    await rm(path);
    await mkdir(path);
    await expect(settings.browser.getBytes(exportPath())).rejects.toThrow('aborted');
  });

  it('is for managers, and of a contact of the workspace', async () => {
    const agent = await service.make.agent(settings.workspace, { role: 'AGENT' });
    const refused = await (await dashboard.logIn(agent)).get(exportPath());
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    const other = await service.make.contact(await service.make.workspace());
    const missing = await settings.browser.get(pathOf(`/contacts/${other.id}/export`));
    expect(missing).toMatchObject({ status: 404, body: errorBody('NOT_FOUND', 'Contact not found.') });
    for (const { headers } of [refused, missing]) expect(headers).not.toHaveProperty('content-disposition');
  });
});
