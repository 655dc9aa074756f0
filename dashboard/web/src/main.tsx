import './nonce';
import './styles';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { keepPageOnDrop } from './common/dropped-files';
import { tolerateTranslators } from './common/translated-pages';
import { guessLocale, loadTexts } from './i18n/locale';

keepPageOnDrop();
tolerateTranslators();
const locale = guessLocale();
const texts = await loadTexts(locale);
createRoot(document.getElementById('root')!).render(<App first={{ locale, texts }} />);
