import { Module } from '@nestjs/common';
import { SecretBox } from '../common/secret-box';
import { Config } from '../config/config';
import { KeyRotationService } from './key-rotation.service';

@Module({
  providers: [
    {
      provide: SecretBox,
      inject: [Config],
      useFactory: (config: Config) => new SecretBox(config.secretsKeys),
    },
    KeyRotationService,
  ],
  exports: [SecretBox, KeyRotationService],
})
export class SecretsModule {}
