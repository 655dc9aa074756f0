import { fillVariables, savedReplyQuery } from './saved-reply-text';

const VALUES = {
  'contact.name': 'Ada Lovelace',
  'contact.firstName': 'Ada',
  'agent.name': '',
  'workspace.name': 'The $1 shop',
};

describe('the text of a saved reply', () => {
  it.each([
    ['Hello {{contact.firstName}}!', 'Hello Ada!'],
    ['{{ contact.name }}, {{contact.firstName}}', 'Ada Lovelace, Ada'],
    ['Yours, {{agent.name|the team}}', 'Yours, the team'],
    ['Hello {{contact.firstName|friend}}', 'Hello Ada'],
    ['{{workspace.name}}', 'The $1 shop'],
    ['Nothing to fill: {contact.name} { }', 'Nothing to fill: {contact.name} { }'],
  ])('%j becomes %j', (body, text) => {
    expect(fillVariables(body, VALUES)).toEqual({ text, missing: [] });
  });

  it.each([
    ['Hello {{agent.name}}, welcome', 'Hello, welcome'],
    ['I am {{agent.name}} of the shop', 'I am  of the shop'],
    ['{{agent.name}}{{agent.name| }}', ''],
  ])('%j becomes %j without the value', (body, text) => {
    expect(fillVariables(body, VALUES)).toEqual({ text, missing: ['agent.name'] });
  });

  it('names each missing variable once, in their order', () => {
    const { missing } = fillVariables('{{other}} {{agent.name}} {{other}}', VALUES);
    expect(missing).toEqual(['other', 'agent.name']);
  });
});

describe('a search for a saved reply', () => {
  // The caret is at the bar.
  it.each([
    ['/ho|', 'ho', 0],
    ['/|', '', 0],
    ['/ho|urs', 'ho', 0],
    ['Hello\n/ho|', 'ho', 6],
    ['Hello\n/two words|\nBye', 'two words', 6],
  ])('is typed in %j', (typed, query, start) => {
    const caret = typed.indexOf('|');
    expect(savedReplyQuery(typed.replace('|', ''), caret)).toEqual({ query, start, end: caret });
  });

  it.each(['Hello /ho|', '|/ho', '/ho\n|', 'Hello|\n/ho', ' /ho|', '|'])('is not typed in %j', (typed) => {
    expect(savedReplyQuery(typed.replace('|', ''), typed.indexOf('|'))).toBeNull();
  });
});
