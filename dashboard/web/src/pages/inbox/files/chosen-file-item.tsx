import { CloseButton, Button, Progress, Text, TextInput } from '@mantine/core';
import type { Channel } from '../../../api/types';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { Fault, Reason } from '../../../common/error-notice';
import { useFormats, useTexts } from '../../../i18n/locale';
import type { ChosenFile } from '../reply/kept-replies';
import type { FileRefusal } from './channel-refusal';
import { useFileSize } from './file-size';
import { useFileTexts } from './file-texts';
import { FileIcon } from './file-icon';
import classes from './files.module.css';
import { Thumbnail } from './thumbnail';
import {
  goesOnByItself,
  removeFile,
  retryUpload,
  type Transfer,
  type UploadTarget,
  useTransfer,
} from './uploads';

/** Most characters of a caption that the server takes. */
const MAX_CAPTION = 1024;

/** A chosen file: its name, the progress of its upload or why it can't be sent, and its caption. */
export function ChosenFileItem({
  file,
  target,
  channel,
  onRemoved,
}: {
  file: ChosenFile;
  target: UploadTarget | undefined;
  channel: Channel;
  onRemoved: () => void;
}) {
  const texts = useFileTexts();
  const { common } = useTexts();
  const sizeOf = useFileSize();
  const transfer = useTransfer(file.key);
  const { key, name, size, caption, upload, refusal } = file;
  const isDone = upload !== undefined || refusal !== undefined;
  return (
    <li className={classes.item} data-refused={refusal !== undefined || transfer?.error !== undefined}>
      <Thumbnail file={file} fallback={<FileIcon kind={upload?.kind} type={file.type} />} />
      <div className={classes.about}>
        <div className={classes.line}>
          <bdi className={classes.name} title={name}>
            {name}
          </bdi>
          <span className={classes.size}>{sizeOf(size)}</span>
        </div>
        <Text size="xs" role="status" className={classes.state}>
          {refusal ? (
            <RefusalText refusal={refusal} channel={channel} />
          ) : upload ? (
            texts.uploaded
          ) : (
            <TransferText transfer={transfer} size={size} />
          )}
        </Text>
        {!isDone && transfer?.abort && (
          <Progress
            className={classes.progress}
            value={(100 * transfer.sent) / size}
            size="xs"
            aria-label={texts.uploadOf(name)}
          />
        )}
        {!isDone && transfer?.error && target && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={texts.tryAgain(name)}
            onClick={() => retryUpload(target, key)}
          >
            {common.tryAgain}
          </Button>
        )}
        {refusal === undefined && (
          <TextInput
            size="xs"
            dir="auto"
            aria-label={texts.caption(name)}
            placeholder={texts.captionPlaceholder}
            maxLength={MAX_CAPTION}
            value={caption}
            onChange={({ currentTarget: { value } }) => target?.chosen.change(key, { caption: value })}
          />
        )}
      </div>
      <CloseButton
        size="sm"
        aria-label={isDone ? texts.remove(name) : texts.cancel(name)}
        disabled={!target}
        onClick={() => {
          removeFile(target!, file);
          onRemoved();
        }}
      />
    </li>
  );
}

function RefusalText({ refusal, channel }: { refusal: FileRefusal; channel: Channel }) {
  const texts = useFileTexts();
  const sizeOf = useFileSize();
  const label = CHANNEL_LABELS[channel];
  if (refusal.why === 'too_large') return texts.refusal.too_large(label, sizeOf(refusal.maxBytes));
  if (refusal.why === 'type') return texts.refusal.type(label);
  return texts.refusal[refusal.why];
}

function TransferText({ transfer, size }: { transfer: Transfer | undefined; size: number }) {
  const texts = useFileTexts();
  const formats = useFormats();
  if (!transfer) return texts.waiting;
  const { error, sent } = transfer;
  if (!error) return texts.uploading(formats.number(Math.floor((100 * sent) / size)));
  if (goesOnByItself(error)) return texts.offline;
  const [detail] = error.details;
  return detail ? <Fault detail={detail} /> : <Reason error={{ ...error.reason, message: error.message }} />;
}
