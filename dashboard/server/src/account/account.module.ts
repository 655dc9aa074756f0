import { Module } from '@nestjs/common';
import { LoginModule } from '../login/login.module';
import { AccountController } from './account.controller';
import { SecondFactorController } from './second-factor.controller';
import { SessionController } from './session.controller';

@Module({
  imports: [LoginModule],
  controllers: [SessionController, AccountController, SecondFactorController],
})
export class AccountModule {}
