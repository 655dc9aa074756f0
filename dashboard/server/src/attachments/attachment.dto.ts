import { IsIn, IsOptional } from 'class-validator';

export class AttachmentContentQuery {
  /** `rendition`: the small picture of a picture, or a voice that each browser plays, if there is one. */
  @IsOptional()
  @IsIn(['original', 'rendition'])
  variant?: 'original' | 'rendition';

  /** `yes`: the browser saves the file, even if it can show it. */
  @IsOptional()
  @IsIn(['yes'])
  save?: 'yes';
}
