import { Badge, Button } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../api/session';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { ConfirmedActDialog } from './confirmed-act-dialog';
import { RecoveryCodesDialog } from './recovery-codes-dialog';
import { TurnOnDialog } from './turn-on-dialog';

type Open = 'turn_on' | 'turn_off' | 'new_codes' | null;

export function SecondFactorSection() {
  const texts = useTexts();
  const { person } = useSession();
  const [open, setOpen] = useState<Open>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = () => setOpen(null);
  const showCodes = (recoveryCodes: string[]) => {
    close();
    setCodes(recoveryCodes);
  };
  return (
    <Section
      title={texts.secondFactor.title}
      about={texts.secondFactor.about}
      actions={
        person.hasSecondFactor ? (
          <>
            <Button variant="default" onClick={() => setOpen('new_codes')}>
              {texts.secondFactor.newCodes}
            </Button>
            <Button variant="default" onClick={() => setOpen('turn_off')}>
              {texts.secondFactor.turnOff}
            </Button>
          </>
        ) : (
          <Button onClick={() => setOpen('turn_on')}>{texts.secondFactor.turnOn}</Button>
        )
      }
    >
      <div>
        {person.hasSecondFactor ? (
          <Badge color="green">{texts.secondFactor.isOn}</Badge>
        ) : (
          <Badge color="gray">{texts.secondFactor.isOff}</Badge>
        )}
      </div>
      {open === 'turn_on' && <TurnOnDialog onClose={close} onDone={showCodes} />}
      {open === 'turn_off' && (
        <ConfirmedActDialog
          title={texts.secondFactor.turnOff}
          advice={texts.secondFactor.turnOffAdvice}
          path="/account/second-factor/turn-off"
          done={texts.secondFactor.turnedOff}
          onClose={close}
          onDone={close}
        />
      )}
      {open === 'new_codes' && (
        <ConfirmedActDialog
          title={texts.secondFactor.newCodes}
          advice={texts.secondFactor.newCodesAdvice}
          path="/account/recovery-codes"
          onClose={close}
          onDone={(answer) => showCodes(answer!.recoveryCodes)}
        />
      )}
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />}
    </Section>
  );
}
