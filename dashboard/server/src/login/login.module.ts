import { Module } from '@nestjs/common';
import { LinkAcceptance } from './link-acceptance';
import { LinksController } from './links.controller';
import { LoginController } from './login.controller';
import { LoginCookies } from './login-cookies';

@Module({
  controllers: [LoginController, LinksController],
  providers: [LoginCookies, LinkAcceptance],
  exports: [LoginCookies],
})
export class LoginModule {}
