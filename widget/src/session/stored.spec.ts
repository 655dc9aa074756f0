import { isKeptChat } from './kept-chat';
import { isSession, newSession } from './session-store';

describe('a stored session', () => {
  const session = { ...newSession('user:1'), token: 'x', renewedAt: 5, profile: '[]', said: { name: 'Ann' } };

  it.each([[newSession('anonymous:1')], [session], [{ ...session, later: true }]])('is %j', (parts) => {
    expect(isSession(parts)).toBe(true);
  });

  it.each([
    [{}],
    [{ owner: 'user:1' }],
    [{ ...session, owner: undefined }],
    [{ ...session, token: {} }],
    [{ ...session, renewedAt: '5' }],
    [{ ...session, renewedAt: null }],
    [{ ...session, profile: undefined }],
    [{ ...session, said: { name: 5 } }],
  ])('is not %j', (parts) => {
    expect(isSession(parts)).toBe(false);
  });
});

describe('a kept chat', () => {
  const kept = { owner: 'user:1', draft: 'Half', isOpen: true };

  it('is its owner, draft and state', () => {
    expect(isKeptChat(kept)).toBe(true);
  });

  it.each([[{}], [{ ...kept, owner: 1 }], [{ ...kept, draft: 5 }], [{ owner: 'user:1', draft: 'Half' }]])(
    'is not %j',
    (parts) => {
      expect(isKeptChat(parts)).toBe(false);
    },
  );
});
