import { IsString, MaxLength } from 'class-validator';

export class CheckUrl {
  @MaxLength(2_048, { message: 'must be at most 2048 characters' })
  @IsString()
  url: string;
}
