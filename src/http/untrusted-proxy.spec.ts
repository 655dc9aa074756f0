import type { Request, Response } from 'express';
import { noticeUntrustedProxy } from './untrusted-proxy';

it('is noticed at the first forwarded request, and not again', () => {
  let warnings = 0;
  let passed = 0;
  const notice = noticeUntrustedProxy(() => (warnings += 1));
  const request = (headers: Record<string, string>) =>
    notice({ headers } as unknown as Request, {} as Response, () => (passed += 1));
  request({});
  expect(warnings).toBe(0);
  for (let n = 0; n < 3; n++) request({ 'x-forwarded-for': `198.51.100.${n}` });
  expect(warnings).toBe(1);
  expect(passed).toBe(4);
});
