#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iocomp {

/// The folder a file lies in ("." for a plain name), and its name there.
[[nodiscard]] std::string folder_of(const std::string& path);
[[nodiscard]] std::string name_in_folder(const std::string& path);

/// Write and fsync a file, then rename it to its final name and fsync the folder. Leaves no
/// temporary behind.
/// @throws Error{storage_failure}.
void write_durably(const std::string& path, const std::string& temporary, std::string_view text);
/// The same, of a text in parts.
/// @param may_appear  is called right before the rename, and throws where that shall not be.
void write_durably(const std::string& path, const std::string& temporary,
                   std::span<const std::string_view> parts,
                   const std::function<void()>& may_appear = {});

/// The names in a folder, without "." and ".."; none where it is not there.
/// @throws Error{storage_failure}.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

/// The text of a file, or nothing if there is none that can be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// Bytes of a file.
/// @throws Error{storage_failure}.
[[nodiscard]] std::int64_t size_of_file(const std::string& path);

/// Make the names in the folder of `path` durable.
/// @throws Error{storage_failure}.
void sync_folder_of(const std::string& path);

}  // namespace iocomp
