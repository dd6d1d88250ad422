<?php

// What a response says: a value or a failure.
declare(strict_types=1);

/** The value of a response. @throws ServiceError where it has none */
function readResponse(string $operation, Attempt $response, array $keys): mixed
{
    $row = OPERATIONS[$operation];
    $text = trimmed(preg_replace('/^\x{FEFF}/u', '', utf8($response->body)));
    $json = json_decode($text);
    $isJson = json_last_error() === JSON_ERROR_NONE;
    if ($response->because !== 'success-began') {
        throw readError($response, $text, $json, $isJson, $keys);
    }
    if (isset($row['answerType'])) {
        return $response->body;
    }
    if (!isset($row['answer'])) {
        return new stdClass();
    }
    if ($json instanceof stdClass && isWhole($operation, $json)) {
        return $json;
    }
    $event = match (true) {
        $json instanceof stdClass => 'incomplete',
        str_starts_with($text, '<') => 'html',
        $response->status === 200 => 'notJson',
        default => 'otherSuccess',
    };
    $because = $event === 'html' ? 'unclear-answer' : 'success-began';
    throw new ServiceError('INTERNAL', 'The response is not the JSON object that is needed.', $because, [$event]);
}

/** Whether a response has what the caller cannot do without. */
function isWhole(string $operation, stdClass $value): bool
{
    $isNumber = fn ($one) => is_int($one) || (is_float($one) && is_finite($one));
    $isRanked = fn ($one) => is_int(member($one, 'index')) && $isNumber(member($one, 'relevance_score'));
    return match ($operation) {
        'uploadDatasetFile' => is_string(member($value, 'id')),
        'rerankDocuments' => is_array(member($value, 'data')) && array_filter($value->data, $isRanked) === $value->data,
        default => true,
    };
}

function readError(Attempt $response, string $text, mixed $json, bool $isJson, array $keys): ServiceError
{
    $status = $response->status;
    $json = is_array($json) && count($json) === 1 ? $json[0] : $json;
    $row = rowOf($status);
    $named = intdiv($status, 100) === 3 ? null : codeIn($json, $status);
    $retryAfterMs = retryAfterMs($response->headers, $json);
    $events = $named === null ? [] : [PARAMETERS['codes'][$named]['event']];
    if ($named === null || PARAMETERS['codes'][$named]['httpStatus'] !== $status) {
        $events[] = $row['event'];
    }
    $events = $retryAfterMs === null ? $events : str_replace('exhausted', 'exhaustedTimed', $events);
    $mayHaveRun = array_filter($events, fn ($event) => PARAMETERS['events'][$event]['executed'] !== 'no') !== [];
    $message = $status < 400 ? '' : ($isJson ? messageIn($json) : plain($text));
    return new ServiceError(
        $named ?? $row['code'],
        $message === '' ? "HTTP $status without a message." : str_replace($keys, '[key]', $message),
        $mayHaveRun ? 'unclear-answer' : 'refused',
        $events,
        $named === null ? 'status' : 'body',
        $named === null && !in_array($status, $row['notInferred'], true),
        $retryAfterMs,
        $status,
    );
}

/** The row of a status: its ranges are such as "502" and "520-527". */
function rowOf(int $status): array
{
    foreach (PARAMETERS['statuses'] as $row) {
        foreach ($row['statuses'] as $range) {
            if ($status >= (int) substr($range, 0, 3) && $status <= (int) substr($range, -3)) {
                return $row;
            }
        }
    }
    throw new RangeException("No row has the status $status.");
}

/** The code that the body of an error names. */
function codeIn(mixed $json, int $status): ?string
{
    $code = member($json, 'code');
    $found = array_map(fn ($field) => member($json, $field), PARAMETERS['errorBody']['codeFields']);
    foreach (PARAMETERS['codes'] as $name => ['grpcNumber' => $number, 'httpStatus' => $of]) {
        $isNumbered = (is_int($code) || is_float($code)) && $code == $number && $of === $status;
        $found[] = $isNumbered || $code === strtolower($name) ? $name : null;
    }
    $found[] = $code === 'canceled' ? 'CANCELLED' : null;
    $names = array_filter($found, fn ($name) => is_string($name) && isset(PARAMETERS['codes'][$name]));
    return array_shift($names);
}

function messageIn(mixed $json): string
{
    $detail = member($json, 'detail');
    $items = array_map(fn ($item) => member($item, 'msg'), is_array($detail) ? $detail : []);
    $found = array_map(fn ($field) => member($json, $field), ['error.message', 'error', 'message', 'Message', 'detail']);
    array_push($found, implode('; ', array_filter($items, is_string(...))), member($json, 'title'), $json);
    foreach ($found as $one) {
        if (trimmed(text($one)) !== '') {
            return trimmed($one);
        }
    }
    return '';
}

/** The message of a text that is no JSON. */
function plain(string $text): string
{
    $isPage = str_starts_with($text, '<');
    $hasTitle = preg_match('~<title[^<>]*>\s*([^<\s].*?)</title>~isu', $text, $title);
    $words = $isPage ? ($hasTitle ? $title[1] : preg_replace('/<[^<>]*>/', ' ', $text)) : $text;
    preg_match($isPage ? '/^.{0,200}/su' : '/^.{0,500}/su', trimmed(preg_replace('/\s+/u', ' ', $words)), $start);
    return $start[0];
}

/** The longest time that an error response asks to wait; null if it names none. */
function retryAfterMs(array $headers, mixed $json): ?float
{
    $asked = array_map(fn ($text) => milliseconds($text, 1), linesOf($headers, 'retry-after-ms'));
    $now = secondsOf($headers['date'][0] ?? '') ?? microtime(true);
    foreach (linesOf($headers, 'retry-after') as $text) {
        $date = secondsOf($text);
        array_push($asked, milliseconds($text, 1000), $date === null ? null : max(0, ceil(($date - $now) * 1000)));
    }
    foreach (['error.details', 'details'] as $field) {
        foreach (is_array(member($json, $field)) ? member($json, $field) : [] as $item) {
            $isInfo = str_ends_with(text(member($item, '@type')), 'google.rpc.RetryInfo');
            $delay = $isInfo ? text(member($item, 'retryDelay')) : '';
            $asked[] = str_ends_with($delay, 's') ? milliseconds(substr($delay, 0, -1), 1000) : null;
        }
    }
    $asked = array_filter($asked, fn ($ms) => $ms !== null);
    return $asked === [] ? null : (float) max($asked);
}

/** @return string[] the lines of a header, which may be joined by commas; a comma behind a weekday is of a date */
function linesOf(array $headers, string $name): array
{
    return preg_split('/(?<!Mon|Tue|Wed|Thu|Fri|Sat|Sun|day),\s*/', implode(', ', $headers[$name] ?? []));
}

function milliseconds(string $text, int $unit): ?float
{
    return preg_match('/^\d+(\.\d+)?$/D', $text) ? min(PHP_FLOAT_MAX, ceil(round((float) $text * $unit, 6))) : null;
}

/** The seconds of a date in one of the three forms of RFC 9110. */
function secondsOf(string $text): ?int
{
    $withoutDay = preg_replace(['/^\w+,? /', '/ +/'], ['', ' '], $text);
    foreach (['!d M Y H:i:s \G\M\T', '!d-M-y H:i:s \G\M\T', '!M j H:i:s Y'] as $form) {
        $date = DateTimeImmutable::createFromFormat($form, $withoutDay, new DateTimeZone('UTC'));
        if ($date !== false && !DateTimeImmutable::getLastErrors()) {
            return $date->getTimestamp();
        }
    }
    return null;
}

/** A member of a JSON object, or of an object in it: "error.message". */
function member(mixed $json, string $path): mixed
{
    foreach (explode('.', $path) as $name) {
        $json = $json instanceof stdClass ? $json->{$name} ?? null : null;
    }
    return $json;
}

function text(mixed $value): string
{
    return is_string($value) ? $value : '';
}

/** Bytes as UTF-8; what is not becomes U+FFFD. */
function utf8(string $bytes): string
{
    $isValid = preg_match('//u', $bytes) === 1;
    return $isValid ? $bytes : json_decode(json_encode($bytes, JSON_INVALID_UTF8_SUBSTITUTE));
}

function trimmed(string $text): string
{
    return trim($text, " \t\n\r\f\v");
}
