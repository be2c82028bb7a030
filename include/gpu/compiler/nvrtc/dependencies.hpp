#pragma once
/// \file
/// `dependency_finder`: finds the files that a compilation depended on.

#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/detail/text_set.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/compiler/nvrtc/header_states.hpp>
#include <gpu/compiler/nvrtc/include_scan.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

/// Finds the conditions under which a compiled program may be reused. The files that were opened
/// are known. The paths where the compiler looked before it found them are derived from the
/// directives in all files; too many such paths do no harm. NVRTC looks for a name in quotes in the
/// folder of the file with the directive, which for a text is the folder of its name; then, as for
/// a name in <>, in the include folders. In each it also tries a name without a dot with ".stdh".
class dependency_finder {
 public:
  /// `folders` are the include folders, in order.
  dependency_finder(const program& source, const sequence<text>& folders,
                    const header_states& before)
      : source_{source}, folders_{folders}, before_{before} {
    for (const program_header& header : source.headers()) given_.insert(header.name);
  }

  /// Records the states of the user's headers right before the compilation. Waits for some
  /// milliseconds if one was written so recently that a write during the compilation could give it
  /// the same time stamp. Headers in the last `toolkit` folders are assumed to be older, and
  /// regular files. `options` are those of the compilation.
  static header_states look_before(const program& source, const sequence<text>& folders,
                                   std::size_t toolkit, const sequence<text>& options = {}) {
    header_states before;
    dependency_finder all(source, folders, before);
    const text by_options = directives_of(options);
    all.scan_given();
    all.scan(by_options, source.name());
    std::uint64_t newest = 0;
    const auto see = [&](const text& path) {
      if (const header_state* known = before.find(path)) return known->kind == location_kind::file;
      struct stat about{};
      header_state state;
      state.kind = kind_of_location(path.c_str(), about);
      if (state.kind != location_kind::nothing) {
        if (before.refusal.empty()) before.refusal = refusal_of(path, about);
        state.identity = identity_of(about);
        if (state.identity.changed > newest) newest = state.identity.changed;
        if (read_header(path, state.contents, state.identity) &&
            all.is_first_of_file(path, state.identity)) {
          all.scan(state.contents, path);
        }
      }
      before.paths.insert(path);
      before.states.push_back(state);
      return state.kind == location_kind::file;
    };
    std::size_t looked = 0;
    const auto look = [&] {
      for (; looked < all.lookups_.size(); ++looked) {
        const lookup one = all.lookups_[looked];  // `see` may add to the list
        all.each_path(one, folders.size() - toolkit, see);
      }
    };
    look();
    if (all.uses_macros_) {
      all.add_definitions(source.source(), source.name());
      for (const program_header& h : source.headers()) all.add_definitions(h.source, h.name);
      all.add_definitions(by_options, source.name());
      look();
      for (std::size_t i = 0; i < before.states.size(); ++i) {
        const text path = before.paths.list()[i], contents = before.states[i].contents;
        all.add_definitions(contents, path);
        look();
      }
    }
    file_clock now = file_clock::now();
    constexpr timespec millisecond{0, 1'000'000};
    for (int i = 0; i < 12 && newest >= now.stamp; ++i) {
      ::nanosleep(&millisecond, nullptr);
      now = file_clock::now();
    }
    before.started = now;
    return before;
  }

  /// Sets all conditions except the compiler. `opened` are the files that the compilation opened;
  /// if it is not `complete`, all files that it could have opened are added. Returns why the
  /// conditions cannot be known, or an empty text.
  text find(const sequence<text>& opened, bool complete, cache_conditions& conditions) {
    complete_ = complete;
    out_ = &conditions;
    conditions.folders = folders_;
    scan_given();
    if (complete) {
      for (const text& path : opened) {
        if (given_.contains(path)) continue;
        const bool own = scan_own(path);
        if (own) opened_own_.insert(path);
        // A file may have the name of one of the library's headers.
        if (!own || kind_of_location(path.c_str()) == location_kind::file) open(path);
      }
    }
    // If the list is not complete, a lookup may find more files, and these have more directives.
    std::size_t looked = 0, folders_known = 0;
    do {
      if (folders_known != own_folders_.list().size()) looked = 0;
      folders_known = own_folders_.list().size();
      for (; looked < lookups_.size(); ++looked) {
        const lookup one = lookups_[looked];  // `look_at` may add to the list
        each_path(one, folders_.size(), [&](const text& path) { return look_at(path); });
      }
      look_for_unexplained();
    } while (looked < lookups_.size() || folders_known != own_folders_.list().size());
    if (known_ && conditions.on_files() && before_.started.was_set_until(file_clock::now())) {
      give_up("the clock was set while the program was compiled");
    }
    return trouble_;
  }

  /// Returns whether the conditions are known.
  bool known() const noexcept { return known_; }
  /// Returns the identities of the files of the conditions.
  const sequence<file_identity>& seen_files() const noexcept { return seen_files_; }

 private:
  struct lookup {
    text name;
    text own_folder;  // of the file with the directive
    bool quoted;
    bool all_folders;  // also those after the first that has it
  };

  struct file_in_folder {
    std::uint64_t device, inode;
    text folder;
  };

  /// Records why the conditions are not known.
  void give_up(const char* first, const text& path = {}, const char* last = "") {
    known_ = false;
    if (!trouble_.empty()) return;
    text_builder out;
    out << first << path << last;
    trouble_ = out.finish();
  }

  static bool is_absolute(const text& name) noexcept { return name.c_str()[0] == '/'; }
  static text join(const text& folder, const text& name) {
    if (folder.empty() || is_absolute(name)) return name;
    text_builder out;
    out << folder;
    if (folder.end()[-1] != '/') out << '/';
    out << name;
    return required(out.finish());
  }
  static constexpr string_ref suffix = ".stdh";
  static bool has_suffix(string_ref path) noexcept {
    std::size_t at = path.size();
    while (at > 0 && path[at - 1] != '/' && path[at - 1] != '.') --at;
    return at > 0 && path[at - 1] == '.';
  }
  static text with_suffix(const text& path) {
    text_builder out;
    out << path << suffix;
    return required(out.finish());
  }
  static text without_suffix(const text& path) {
    if (path.size() < suffix.size()) return path;
    const std::size_t size = path.size() - suffix.size();
    if (!(string_ref(path.data() + size, suffix.size()) == suffix)) return path;
    return required(text(path.data(), size));
  }
  static text folder_of(string_ref path) {
    std::size_t size = path.size();
    while (size > 0 && path[size - 1] != '/') --size;
    return required(path.substring(0, size > 1 ? size - 1 : size).to_text());
  }

  void scan_given() {
    scan(source_.source(), source_.name());
    for (const program_header& header : source_.headers()) scan(header.source, header.name);
  }

  /// Has the header of a directive looked for, unless it is given as text.
  void add_lookup(include_name include, const text& folder) {
    const text name = required(include.name.to_text());
    if (given_.contains(name)) return;  // headers given as text come before all folders
    if (!include.quoted || !complete_) scan_own(name);
    text_builder key;
    key << (include.quoted ? '"' : '<') << (include.all_folders ? '+' : '1');
    if (include.quoted) key << folder;
    key << '\n' << name;
    if (seen_.insert(required(key.finish()))) {
      lookups_.push_back({name, folder, include.quoted, include.all_folders});
    }
  }

  /// Adds the headers that macros are defined as.
  void add_definitions(string_ref contents, string_ref path) {
    const text folder = folder_of(path);
    include_scan(contents).for_each_definition(
        [&](include_name include) { add_lookup(include, folder); });
  }

  void scan(string_ref contents, string_ref path) {
    const include_scan found(contents);
    const text folder = folder_of(path);
    own_folders_.insert(folder);
    const scan_outcome outcome =
        found.for_each([&](include_name include) { add_lookup(include, folder); });
    uses_macros_ = uses_macros_ || outcome.asks_by_macro || outcome.includes_by_macro;
    const text name = path.to_text();
    if (outcome.asks_by_macro) give_up("", name, " tests for a header by a macro");
    if (outcome.includes_by_macro) {
      macro_folders_.insert(folder);
      if (!complete_) give_up("", name, " includes a header by a macro");
    }
    if (found.reads_clock()) give_up("", name, " has __DATE__, __TIME__ or __TIMESTAMP__");
  }

  /// Scans the library's own header of that name, which depends on the library's version only.
  /// Returns whether there is one.
  bool scan_own(const text& name) {
    const text source = library_header(name);
    if (!source.empty() && own_headers_.insert(name)) scan(source, name);
    return !source.empty();
  }

  /// Adds a file that was opened.
  void open(const text& path) {
    if (!files_.insert(path)) return;
    text contents;
    file_identity identity;
    if (!read_header(path, contents, identity)) {
      return give_up("header ", path, " went away while the program was compiled");
    }
    const header_state* before = before_.find(path);
    if (before == nullptr) before = before_.find_file(identity);
    if (identity.changed >= before_.started.stamp ||
        (before != nullptr && !(before->identity == identity && before->contents == contents))) {
      return give_up("header ", path, " was written while the program was compiled");
    }
    out_->files.push_back({path, digest_of(contents)});
    seen_files_.push_back(identity);
    if (complete_ || is_first_of_file(path, identity)) scan(contents, path);
  }

  /// Returns whether no file was seen that is the same one, in the same folder: under another path
  /// for it, as in `a/../a/x.h`, the names in its directives stand for the same files. Headers
  /// that include each other by such paths would otherwise have more and more of them.
  bool is_first_of_file(const text& path, const file_identity& identity) {
    for (const file_in_folder& seen : searched_) {
      if (seen.device == identity.device && seen.inode == identity.inode &&
          is_same_folder(seen.folder, folder_of(path))) {
        return false;
      }
    }
    searched_.push_back({identity.device, identity.inode, folder_of(path)});
    return true;
  }
  static bool is_same_folder(const text& one, const text& other) {
    if (one == other) return true;
    struct stat first{}, second{};
    const auto is_there = [](const text& folder, struct stat& about) {
      return ::stat(folder.empty() ? "." : folder.c_str(), &about) == 0;
    };
    return is_there(one, first) && is_there(other, second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
  }

  /// Calls `visit(path)` for each path that a name may stand for in a folder, until one returns
  /// true.
  template <class Visit> static bool is_in(const text& folder, const text& name, Visit visit) {
    const text path = join(folder, name);
    return visit(path) || (!has_suffix(path) && visit(with_suffix(path)));
  }

  /// Calls `visit(path)` for each path where the compiler may look for a header, in order, until
  /// one returns true. Of the include folders, takes the first `folders`.
  template <class Visit> void each_path(const lookup& l, std::size_t folders, Visit visit) const {
    const auto is_found_in = [&](const text& folder) {
      return is_in(folder, l.name, visit) && !l.all_folders;
    };
    if (is_absolute(l.name)) {
      is_found_in({});
      return;
    }
    if (l.quoted) {
      if (is_found_in(l.own_folder)) return;
      // The directive may be in a macro that another file uses.
      for (std::size_t i = 0; i < own_folders_.list().size(); ++i) {
        is_found_in(text(own_folders_.list()[i]));
      }
    }
    for (std::size_t i = 0; i < folders; ++i) {
      if (is_found_in(folders_[i])) return;
    }
  }

  /// Looks at one path. Returns whether the compiler opened the file there.
  bool look_at(const text& path) {
    if (files_.contains(path)) {
      explained_.insert(path);
      return true;
    }
    struct stat about{};
    const bool below_nothing = is_in_absent(path);
    const location_kind kind =
        below_nothing ? location_kind::nothing : kind_of_location(path.c_str(), about);
    const header_state* before = before_.find(path);
    if (!complete_ && kind == location_kind::file) {
      open(path);
      explained_.insert(path);
      return true;
    }
    if (kind == location_kind::nothing) {
      if (before != nullptr && before->kind != kind) {
        give_up("", path, " went away while the program was compiled");
      }
      if (!below_nothing) record_absent(path);
      return false;
    }
    if (nanoseconds(about.st_ctim) >= before_.started.stamp ||
        (before != nullptr && before->kind != kind)) {
      give_up("", path, " was written while the program was compiled");
    }
    if (present_.insert(path)) out_->locations.push_back({path, kind});
    return false;
  }

  bool is_in_absent(const text& path) const {
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path.data()[i] == '/' && absent_.contains({path.data(), i})) return true;
    }
    return absent_.contains(path);
  }

  /// Records the topmost folder that does not exist, which stands for all paths in it.
  void record_absent(const text& path) {
    text top = path;
    for (std::size_t size = path.size(); size-- > 1;) {
      if (path.data()[size] != '/') continue;
      const text above = required(text(path.data(), size));
      if (kind_of_location(above.c_str()) != location_kind::nothing) break;
      top = above;
    }
    absent_.insert(top);
    out_->locations.push_back({top, location_kind::nothing});
  }

  /// Handles files that were named by macros: if no directive explains a file, any part of its path
  /// may be the name. A directive with a macro may also name a file that another directive
  /// explains.
  void look_for_unexplained() {
    const auto look_for = [&](const text& name, const sequence<text>& from) {
      for (const sequence<text>* folders : {&from, &folders_}) {
        for (const text& folder : *folders) {
          is_in(folder, without_suffix(name), [&](const text& path) { return look_at(path); });
        }
      }
    };
    for (std::size_t i = 0; i < files_.list().size(); ++i) {
      const text path = files_.list()[i];
      const sequence<text> from =
          explained_.insert(path) ? own_folders_.list() : macro_folders_.list();
      if (from.empty()) continue;
      const auto try_folder = [&](const text& folder) {
        if (!starts_with(path, folder)) return;
        const char* name = path.data() + folder.size();
        while (*name == '/' && !folder.empty()) ++name;
        look_for(required(text(name)), from);
      };
      for (const text& folder : from) try_folder(folder);
      for (const text& folder : folders_) try_folder(folder);
    }
    if (macro_folders_.list().empty()) return;
    for (const text& name : opened_own_.list()) look_for(name, macro_folders_.list());
  }

  const program& source_;
  const sequence<text>& folders_;
  const header_states& before_;
  bool complete_ = true;
  bool uses_macros_ = false;  // as names of headers
  cache_conditions* out_ = nullptr;
  bool known_ = true;
  text trouble_;
  text_set given_, own_headers_, opened_own_, own_folders_, macro_folders_, seen_, files_,
      explained_, absent_, present_;
  sequence<lookup> lookups_;
  sequence<file_in_folder> searched_;
  sequence<file_identity> seen_files_;
};

}}}  // namespace gpu::v1::detail
