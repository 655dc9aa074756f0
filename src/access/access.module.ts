import { Module } from '@nestjs/common';
import { KeyRevocations } from './key-revocations';

@Module({ providers: [KeyRevocations], exports: [KeyRevocations] })
export class AccessModule {}
