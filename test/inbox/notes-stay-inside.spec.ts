import { Actor, SYSTEM } from '../../src/access/principal';
import { MessagesService } from '../../src/messages/messages.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Receiver } from '../support/receiver';
import { createTenant } from '../support/routes';
import { TestService } from '../support/service';
import { tracesIn, tracesInRedis } from '../support/traces';
import { TestWidget } from '../support/widget';

const SECRET = 'note-that-no-customer-reads';

/** Tests that a note stays among colleagues, whatever else leaves the service. */
it('a note reaches no visitor, no channel, no webhook and no answer of the API', async () => {
  const receiver = await Receiver.start();
  const service = await TestService.create({ role: 'all' });
  try {
    const { workspace, client } = await createTenant(service);
    await service.app.get(WorkspacesService).update(workspace.id, { planTier: 'ENTERPRISE' }, SYSTEM);
    const endpoint = { url: receiver.url(), events: ['*'] };
    await service.app.get(WebhookEndpointsService).create(workspace.id, endpoint, SYSTEM);
    const author: Actor = { type: 'agent', id: (await service.make.agent(workspace)).id };
    const visitor = await (await TestWidget.connect(service, workspace)).visitor();
    const stream = await visitor.stream();
    await visitor.post('1', 'Where is my parcel?');
    const { body: list } = await client.get('/conversations');
    const { id } = list.data[0];

    const notes = service.app.get(NotesService);
    const note = await notes.create(workspace.id, id, { body: SECRET }, author);
    await service.app.get(MessagesService).send(workspace.id, id, { body: 'On its way.' }, author);
    await stream.next('message', 2);
    const isNoteEntry = ({ body }: { body: Buffer }) =>
      body.includes(note.id) && body.includes('note_created');
    await receiver.waitFor(isNoteEntry);
    await receiver.waitFor(({ body }) => body.includes('On its way.'));

    const answers = await Promise.all([
      visitor.history(),
      ...['', `/${id}`, `/${id}/messages`].map((path) => client.get(`/conversations${path}`)),
      client.get('/contacts'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const seen of [answers, stream.events, receiver.received().map(({ body }) => body.toString())]) {
      expect(JSON.stringify(seen)).toMatch(/On its way\./);
      expect(JSON.stringify(seen)).not.toContain(SECRET);
    }
    expect(await tracesIn(service, [SECRET])).toEqual(['notes.body']);
    expect(await tracesInRedis(service, [SECRET])).toEqual([]);
    stream.close();
  } finally {
    await service.close();
    await receiver.stop();
  }
}, 60_000);
