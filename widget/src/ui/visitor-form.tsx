import { useState } from 'preact/hooks';
import type { Texts } from '../locales/en';
import type { VisitorForm } from '../page-api';
import type { Visitor } from './view';

interface Props {
  form: VisitorForm;
  texts: Texts;
  onSubmit: (visitor: Visitor) => void;
}

type FieldName = keyof VisitorForm;
const TYPES = { name: 'text', email: 'email' } as const;
const FIELDS: FieldName[] = ['name', 'email'];

export function VisitorFormFields({ form, texts, onSubmit }: Props) {
  const [values, setValues] = useState<Visitor>({});
  const [errors, setErrors] = useState<Visitor>({});
  const asked = FIELDS.filter((name) => form[name]);

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    const found = errorsOf(form, values, texts);
    setErrors(found);
    const wrong = asked.find((name) => found[name]);
    if (wrong) return element.querySelector<HTMLElement>(`[name=${wrong}]`)?.focus();
    const filled = Object.entries(values).flatMap(([name, value]) => {
      const text = (value as string).trim();
      return text ? [[name, text]] : [];
    });
    onSubmit(Object.fromEntries(filled) as Visitor);
  };

  return (
    <form class="visitor-form" noValidate onSubmit={submit}>
      <p>{texts.formIntroduction}</p>
      {asked.map((name) => (
        <div key={name} class="form-field">
          <label for={name}>{texts[name]}</label>
          {form[name] === 'optional' && <span class="optional"> {texts.optional}</span>}
          <input
            id={name}
            name={name}
            type={TYPES[name]}
            list={undefined}
            autocomplete={name}
            maxLength={200}
            dir="auto"
            required={form[name] === 'required'}
            aria-invalid={Boolean(errors[name])}
            aria-describedby={errors[name] ? `${name}-error` : undefined}
            value={values[name] ?? ''}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
          {errors[name] && (
            <p id={`${name}-error`} class="error" role="alert">
              {errors[name]}
            </p>
          )}
        </div>
      ))}
      <button type="submit" class="start">
        {texts.startChat}
      </button>
    </form>
  );
}

function errorsOf(form: VisitorForm, { name = '', email = '' }: Visitor, texts: Texts): Visitor {
  const missing = (field: FieldName, value: string) => form[field] === 'required' && value.trim() === '';
  return {
    ...(missing('name', name) && { name: texts.required }),
    ...(missing('email', email) && { email: texts.required }),
    ...(email.trim() &&
      !/^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/.test(email.trim()) && { email: texts.invalidEmail }),
  };
}
