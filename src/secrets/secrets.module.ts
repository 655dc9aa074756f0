import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { SecretBox } from './secret-box';
import { Config } from '../config/config';
import { ErasedIds } from './erased-ids';
import { KeyRotationService } from './key-rotation.service';

@Module({
  imports: [AuditModule],
  providers: [
    {
      provide: SecretBox,
      inject: [Config],
      useFactory: (config: Config) => new SecretBox(config.secretsKeys),
    },
    ErasedIds,
    KeyRotationService,
  ],
  exports: [SecretBox, ErasedIds, KeyRotationService],
})
export class SecretsModule {}
