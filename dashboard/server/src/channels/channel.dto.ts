import { IsObject } from 'class-validator';
import { IsOpaque } from 'conversation-messaging-service/http';

/** New credentials of a connected account. */
export class RotateChannel {
  /** Credentials of the account's channel, as for connecting it. */
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  credentials: object;
}
