import type { TimelinePeriod } from 'conversation-messaging-service';
import { IsIn, IsString, MaxLength } from 'class-validator';

export class CheckUrlBody {
  @MaxLength(2_048, { message: 'must be at most 2048 characters' })
  @IsString()
  url: string;
}

const PERIODS: TimelinePeriod[] = ['24h', '7d'];

export class TimelineQuery {
  @IsIn(PERIODS)
  period: TimelinePeriod = '24h';
}
