import { Component, type TargetedEvent } from 'preact';
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

interface State {
  values: Visitor;
  errors: Visitor;
}

export class VisitorFormFields extends Component<Props, State> {
  override state: State = { values: {}, errors: {} };

  override render({ form, texts }: Props, { values, errors }: State) {
    return (
      <form class="visitor-form" noValidate onSubmit={this.submit}>
        <p>{texts.formIntroduction}</p>
        {askedOf(form).map((name) => (
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
              onInput={(event) => this.setState({ values: { ...values, [name]: event.currentTarget.value } })}
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

  private readonly submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { form, texts, onSubmit } = this.props;
    const { values } = this.state;
    const errors = errorsOf(form, values, texts);
    this.setState({ errors });
    const wrong = askedOf(form).find((name) => errors[name]);
    if (wrong) return event.currentTarget.querySelector<HTMLElement>(`[name=${wrong}]`)?.focus();
    const { name = '', email = '' } = values;
    onSubmit({ ...(name.trim() && { name: name.trim() }), ...(email.trim() && { email: email.trim() }) });
  };
}

function askedOf(form: VisitorForm): FieldName[] {
  return FIELDS.filter((name) => form[name]);
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
