import { loggedPath } from './request-records';

describe('the path in the log', () => {
  it.each([
    ['/api/v1/conversations?search=Ada', '/api/v1/conversations'],
    ['/api/v1/attachments/0195/content', '/api/v1/attachments/0195/content'],
    ['/channels/files/secret', '/channels/files/:token'],
    ['/alert-mails/secret', '/alert-mails/:token'],
    ['/attachments/secret?variant=rendition', '/attachments/:token'],
  ])('of %s is %s', (url, path) => {
    expect(loggedPath(url)).toBe(path);
  });
});
