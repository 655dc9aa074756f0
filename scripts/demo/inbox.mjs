import { requireValue } from '../processes.mjs';
import { Login } from './login.mjs';
import { title } from './print.mjs';

/** @import { ConversationDetail, ConversationListItem, Page } from 'conversation-messaging-service' */
/** @import { Api } from './api.mjs' */
/** @import { Customer, Customers, Person } from './customers.mjs' */

const DAY_MS = 86_400_000;
const SAVED_REPLIES = [
  {
    name: 'Late parcel',
    body: 'Hello {{contact.firstName|there}}, I am sorry that your parcel is late. I am asking the carrier, and write again today.',
  },
  { name: 'Shipping', body: 'We ship everywhere in Europe. It takes two to three days.' },
  {
    name: 'Thanks',
    body: 'You are welcome, {{contact.firstName|dear customer}}!\n{{agent.name}}, Harbour Coffee',
  },
];
/** @satisfies {Record<string, Person>} */
const PEOPLE = {
  amara: { id: '447700900123', name: 'Amara Okafor' },
  elif: { id: '4915112345678', name: 'Elif Yıldız' },
  jonas: { id: '5512345678', name: 'Jonas Weber' },
  priya: { id: 'customer-1044', name: 'Priya Nair', email: 'priya@example.com' },
};

/**
 * Fills the inbox as a day's work does: conversations of both agents and of nobody, answers, notes, a
 * snooze, a draft, saved replies, and what is known about a customer.
 *
 * @param {{ api: Api, customers: Customers, ada: Login }} options
 * @returns {Promise<Login>} the login of Ada's colleague
 */
export async function fillInbox({ api, customers: { whatsApp, telegram, widget }, ada }) {
  title('Two agents, Ada and Ben, work in the inbox');
  const ben = await inviteBen(ada);
  for (const reply of SAVED_REPLIES) await ada.call('POST', '/saved-replies', reply);

  await begin(api, telegram, PEOPLE.jonas, 'Hi! Which coffee fits a moka pot?');

  const snoozed = await begin(api, widget, PEOPLE.priya, 'Can I pause my subscription in December?');
  await say(ben, snoozed, 'Of course. I pause it on the 1st, and tell you when it is done.');
  await ben.call('PATCH', snoozed, {
    status: 'SNOOZED',
    snoozedUntil: new Date(Date.now() + DAY_MS).toISOString(),
  });

  const offered = await begin(api, whatsApp, PEOPLE.elif, 'We are an office of twelve. Is there a discount?');
  await assign(ada, offered, ben);
  await note(ada, offered, 'Ben, can you make the offer? 10 % from five bags a month.');

  const { data } = await inChannel(api, 'INSTAGRAM');
  const asked = `/conversations/${requireValue(data[0], 'conversation on Instagram').id}`;
  await assign(ada, asked, ada);
  await ada.call('PUT', `${asked}/draft`, { body: 'The price is the same in the shop in' });

  const late = await begin(api, whatsApp, PEOPLE.amara, 'My parcel HC-2041 has not moved since Tuesday.');
  await say(ada, late, 'Hello Amara, I am sorry. I am asking the carrier, and write again today.');
  await note(ben, late, 'The carrier lost it, case 7741. I have packed a new bag: it leaves tonight.');
  await describe(ada, late, { city: 'Bristol', favourite: 'Dawn', orders: 7 });
  await say(ada, late, 'Your parcel is lost, so a new bag leaves tonight. You have it on Thursday.');
  await whatsApp.writeAs?.(PEOPLE.amara, 'Wonderful! Could it be Night instead of Dawn this time?');
  return ben;
}

/**
 * Lets a manager invite a colleague on the page of the agents.
 *
 * @param {Login} ada
 */
async function inviteBen(ada) {
  const email = ada.email.replace('ada@', 'ben@');
  /** @type {{ agent: { id: string }, link: string }} */
  const invited = await ada.call('POST', '/agents', { name: 'Ben', email, role: 'AGENT' });
  return Login.accept({ ...ada.agent, id: invited.agent.id, email }, invited.link, ada.url);
}

/**
 * Lets a customer write for the first time. Returns the path of the conversation.
 *
 * @param {Api} api
 * @param {Customer} customer whose channel is used
 * @param {Person} person
 * @param {string} text
 */
async function begin(api, { channel, writeAs }, person, text) {
  await requireValue(writeAs, 'other customers on this channel')(person, text);
  const { data } = await inChannel(api, channel);
  return `/conversations/${requireValue(data[0], 'conversation').id}`;
}

/**
 * @param {Api} api
 * @param {string} channel
 * @returns {Promise<Page<ConversationListItem>>} the newest one
 */
function inChannel(api, channel) {
  return api.send('GET', `/conversations?channel=${channel}&limit=1`);
}

/**
 * @param {Login} agent
 * @param {string} conversation its path
 * @param {string} body
 */
function say(agent, conversation, body) {
  return agent.call('POST', `${conversation}/messages`, { body });
}

/**
 * @param {Login} agent
 * @param {string} conversation its path
 * @param {string} body
 */
function note(agent, conversation, body) {
  return agent.call('POST', `${conversation}/notes`, { body });
}

/**
 * @param {Login} agent
 * @param {string} conversation its path
 * @param {Login} to
 */
function assign(agent, conversation, to) {
  return agent.call('PATCH', conversation, { assignedAgentId: to.agent.id });
}

/**
 * Saves what is known about the customer of a conversation.
 *
 * @param {Login} agent
 * @param {string} conversation its path
 * @param {Record<string, unknown>} attributes
 */
async function describe(agent, conversation, attributes) {
  /** @type {ConversationDetail} */
  const { contact } = await agent.call('GET', conversation);
  /** @type {{ updatedAt: string }} */
  const { updatedAt } = await agent.call('GET', `/contacts/${contact.id}`);
  await agent.call('PATCH', `/contacts/${contact.id}`, { updatedAt, email: 'amara@example.com', attributes });
}
