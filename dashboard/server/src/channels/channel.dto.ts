import { IsObject } from 'class-validator';

/** New credentials of a connected account. */
export class RotateChannel {
  /** Credentials of the account's channel, as for connecting it. */
  @IsObject({ message: 'must be an object' })
  credentials: object;
}
