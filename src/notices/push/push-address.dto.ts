import { IsIn } from 'class-validator';
import { MaxCharacters, IsStorableText } from '../../common/validators';
import { type Locale, LOCALES } from '../../logins/people/person.dto';

const MAX_ENDPOINT = 2_048;
const MAX_KEY = 100;

/** Subscription that a browser's `PushManager` has made, with its keys in base64url. */
export class SetPushAddress {
  @MaxCharacters(MAX_ENDPOINT)
  @IsStorableText()
  endpoint: string;

  @MaxCharacters(MAX_KEY)
  @IsStorableText()
  p256dh: string;

  @MaxCharacters(MAX_KEY)
  @IsStorableText()
  auth: string;
}

export class TestPush {
  /** Language of the notice. */
  @IsIn(LOCALES)
  locale: Locale;
}

export interface PushState {
  /** Public key for subscriptions, in base64url; null if the service pushes no notices. */
  publicKey: string | null;
  /** Whether notices are pushed to the browser of the session. */
  isOn: boolean;
}
