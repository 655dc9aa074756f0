import { withoutQuotes } from './quotes';

describe('withoutQuotes', () => {
  it.each([
    ['as it stands', 'You wrote: my code is 4711. Right?', 'my code is 4711', 'You wrote: . Right?'],
    ['wrapped behind marks of a quote', '> my code\n> is 4711\nRight?', 'my code is 4711', '> \nRight?'],
    ['with marks of its own', '> > my code\n> > is 4711', '> my code\n> is 4711', '> > '],
    ['not as a part of words', 'my code is 47110', 'my code is 4711', 'my code is 47110'],
    ['not marks alone', '>>>>>>>>', '> > > > > >', '>>>>>>>>'],
  ])('takes out a text %s', (_, draft, text, left) => expect(withoutQuotes(draft, [text])).toBe(left));

  it.each([
    ['marks', `${'> '.repeat(300)}Z9`, '>'.repeat(10_000)],
    ['words', `${'a '.repeat(2_000)}Z9`, 'a '.repeat(5_000)],
  ])('ends soon for many %s', (_, text, draft) => expect(withoutQuotes(draft, [text])).toBe(draft), 5_000);
});
